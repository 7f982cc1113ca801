#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

#include "core/model/positions/positions.h"
#include "core/operators/linear_attention.h"
#include "core/rotary/head_layout.h"

namespace roper {

/// Queries, keys and values of one layer before rotation. B sequences, T tokens, H heads, K key/value heads.
struct SplitHeads {
    at::Tensor q;     ///< [B, H, T, d]
    at::Tensor k, v;  ///< [B, K, T, d]; the same tensor if they are shared
    at::Tensor all;   ///< [3, B, H, T, d] of uniform layouts, otherwise undefined
};

/// Splits the joint projection. qkv [B, T, jointWidth]
SplitHeads splitHeads(const at::Tensor& qkv, const HeadLayout& layout);

/// Queries, keys and values of one layer as used in the products, for Tq queries and Tk keys. Head h of H
/// uses key/value head ⌊h·K/H⌋.
struct Heads {
    at::Tensor q, k;  ///< [B, H, Tq, d] and [B, K, Tk, d], rotated
    at::Tensor v;     ///< [B, K, Tk, d], rotated depending on the method
    at::Tensor unrotated_q,
        unrotated_k;  ///< φ(q) and φ(k), for the denominator of linear_numerator; otherwise undefined
};

/// Rotates queries, keys and, depending on the method, values by their positions. Linear attention rotates
/// the feature maps φ(q) and φ(k).
Heads rotatedHeads(const SplitHeads& split, AttentionKind kind, Pairing pairing, const PassPositions& pass,
                   std::size_t layer);

/// Rotates the weighted sums [B, H, T, d] back, depending on the method, and concatenates the heads: [B, T,
/// C].
at::Tensor mergedHeads(const at::Tensor& mixed, Pairing pairing, const PassPositions& pass,
                       std::size_t layer);

/// Repeats x [B, K, T, d] of key/value heads for each of H query heads: [B, H, T, d].
at::Tensor ofEachHead(const at::Tensor& x, std::int64_t H);

/// Which keys a query attends to, and the bias of their scores.
struct AttentionMask {
    bool causal = true;       ///< query n attends to keys 0 … n; Tq = Tk
    at::Tensor visible = {};  ///< [B, 1, 1, Tk] (bool): the keys visible to each sequence's single query
    /// Added to the scores, −∞ for masked keys: [1 or B, 1 or H, Tq, Tk]; softmax only. Undefined if `causal`
    /// is sufficient.
    at::Tensor added = {};
    /// Attention sinks: the score of each head for an additional key whose value is 0: [H]; softmax only.
    /// Undefined: none.
    at::Tensor sinks = {};
};

/// The mask of whole sequences of T tokens.
/// @param distance_bias  as in `PassPositions`, or undefined
/// @param options        of the scores
AttentionMask sequenceMask(const AttentionScope& scope, std::int64_t T, const at::Tensor& distance_bias,
                           const at::TensorOptions& options);

/// The mask of a decoding step, one query per sequence. visible [B, 1, 1, Tk] (bool); bias [B, H, 1, Tk] or
/// undefined
AttentionMask decodingMask(const at::Tensor& visible, const at::Tensor& bias,
                           const at::TensorOptions& options);

/// Σ_j a_nj v_j: [B, H, Tq, d]. Linear attention over a whole sequence stores no T × T matrix.
at::Tensor weightedSum(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

/// The weights a_nj: [B, H, Tq, Tk]. Those of linear_numerator need not sum to 1 and may be negative; the
/// others are probabilities, whose sum is less than 1 if there is a sink.
at::Tensor weights(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

/// Weights and weighted sums of softmax attention as the kernels compute them in bfloat16: the factors of
/// both products, including the weights before normalization, are rounded to bfloat16; all else is float32.
struct RoundedAttention {
    at::Tensor weights;  ///< [B, H, Tq, Tk]
    at::Tensor mixed;    ///< [B, H, Tq, d]
};
/// @param heads  float32, rotated
RoundedAttention roundedAttention(const Heads& heads, const AttentionMask& mask);

/// The denominators of linear attention for every query: [B, H, Tq, 1]. Undefined for softmax.
at::Tensor denominators(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

/// Keys and values of the tokens so far, for token-by-token generation. Keys are stored rotated by their
/// position, as are RoPER's values: only the output's rotation depends on the query, so nothing is rotated
/// twice.
class KeyValueCache {
  public:
    KeyValueCache() = default;

    /// Empty, with space for `capacity` tokens per sequence.
    explicit KeyValueCache(std::int64_t capacity) : capacity_(capacity) {}

    std::int64_t capacity() const { return capacity_; }

    /// Keeps only these sequences, in this order. rows [B′] (int64)
    void selectSequences(const at::Tensor& rows);

    /// Stores the keys and values of whole prompts, positions 0 … T − 1, of the next layer.
    void append(const Heads& heads);

    /// Adds one token per sequence to a layer. heads [B, H or K, 1, d]; positions [B] (int64), at most `used`
    /// − 1
    /// @return  the token's query with the keys and values of positions 0 … `used` − 1: [B, K, used, d]
    Heads extend(std::size_t layer, const Heads& heads, const at::Tensor& positions, std::int64_t used);

  private:
    std::int64_t capacity_ = 0;
    std::vector<at::Tensor> keys_;            ///< one per layer [B, K, capacity, d]
    std::vector<at::Tensor> values_;          ///< likewise; empty if keys and values are shared
    std::vector<at::Tensor> unrotated_keys_;  ///< unrotated keys, if the attention needs them
};

}  // namespace roper
