#pragma once

#include <ATen/core/Tensor.h>

#include "core/operators/linear_attention.h"

namespace roper {

/// Queries, keys and values of one layer as they enter the products.
struct Heads {
    at::Tensor q, k;  ///< [B, H, Tq, d] and [B, H, Tk, d], rotated
    at::Tensor v;     ///< [B, H, Tk, d], rotated by RoPER
    at::Tensor unrotated_q,
        unrotated_k;  ///< φ(q) and φ(k) themselves; defined for linear_numerator: its denominator is of them
};

/// Which keys a query attends to, and what is added to their scores.
struct AttentionMask {
    bool causal = true;       ///< query n attends to keys 0 … n; Tq = Tk
    at::Tensor visible = {};  ///< [B, 1, 1, Tk] (bool): the keys that each sequence's one query attends to
    at::Tensor added = {};  ///< to the scores, −∞ for masked keys: [1 or B, 1 or H, Tq, Tk]; softmax only.
                            ///< Undefined where `causal` alone says it.
};

/// The mask of whole sequences of T tokens.
/// @param distance_bias  as in `PassPositions`, or undefined
AttentionMask sequenceMask(bool causal, std::int64_t T, const at::Tensor& distance_bias);

/// The mask of a decoding step, one query per sequence. visible [B, 1, 1, Tk] (bool); bias [B, H, 1, Tk] or
/// undefined
AttentionMask decodingMask(const at::Tensor& visible, const at::Tensor& bias,
                           const at::TensorOptions& options);

/// Σ_j a_nj v_j: [B, H, Tq, d]. Linear attention over a whole sequence keeps no T × T matrix.
at::Tensor mix(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

/// The weights a_nj themselves: [B, H, Tq, Tk]. Those of linear_numerator need not sum to 1 and may be
/// negative; the others are probabilities.
at::Tensor weights(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

/// The same two of softmax attention as the kernels compute them in bfloat16: the factors of both products,
/// weights before their division among them, are rounded to it, everything else is float32.
struct RoundedAttention {
    at::Tensor weights;  ///< [B, H, Tq, Tk]
    at::Tensor mixed;    ///< [B, H, Tq, d]
};
/// @param heads  float32, rotated
RoundedAttention roundedAttention(const Heads& heads, const AttentionMask& mask);

/// What linear attention divides by, for every query: [B, H, Tq, 1]. Undefined for softmax.
at::Tensor denominators(AttentionKind kind, const Heads& heads, const AttentionMask& mask);

}  // namespace roper
