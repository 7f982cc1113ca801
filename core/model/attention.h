#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace roper {

/// How scores become weights: `model.attention`.
enum class AttentionKind {
    softmax,           ///< softmax of q·k/√d, plus a bias
    linear_numerator,  ///< φ(q)·φ(k), turned in the numerator alone: Su et al. 2021, eq. 19
    linear_cosine,     ///< 1 + cosine of q and k (Su 2021); turning keeps it a probability
};

/// @throws c10::Error for an unknown name
AttentionKind attentionKindOf(const std::string& name);

/// Queries, keys and values of one layer as they enter the products.
struct Heads {
    at::Tensor q, k;  ///< [B, H, Tq, d] and [B, H, Tk, d], turned
    at::Tensor v;     ///< [B, H, Tk, d], turned by RoPER
    at::Tensor plain_q,
        plain_k;  ///< before turning; defined for linear_numerator, whose denominator they make
};

/// Which keys a query sees, and what is added to their scores.
struct Sight {
    bool causal = true;    ///< query n sees keys 0 … n; Tq = Tk
    at::Tensor seen = {};  ///< [B, 1, 1, Tk] (bool): the keys that each sequence's one query sees
    at::Tensor mask = {};  ///< added to the scores, −∞ for unseen keys: [1 or B, 1 or H, Tq, Tk]; softmax
                           ///< only. Undefined where `causal` alone says it.
};

/// What is seen in whole sequences of T tokens.
/// @param distance_bias  as in `PassPositions`, or undefined
Sight sightOfSequences(bool causal, std::int64_t T, const at::Tensor& distance_bias);

/// What single tokens see. seen [B, 1, 1, Tk] (bool); bias [B, H, 1, Tk] or undefined
Sight sightOfTokens(const at::Tensor& seen, const at::Tensor& bias, const at::TensorOptions& options);

/// What takes the place of q or k in linear attention: φ(x) = elu(x) + 1 (Katharopoulos et al. 2020), or
/// x/|x|; for softmax x itself. Any shape [..., d].
at::Tensor features(AttentionKind kind, const at::Tensor& x);

/// Σ_j a_nj v_j: [B, H, Tq, d]. Linear attention over a whole sequence keeps no T × T matrix.
at::Tensor mix(AttentionKind kind, const Heads& heads, const Sight& sight);

/// The weights a_nj themselves: [B, H, Tq, Tk]. Those of linear_numerator need not sum to 1 and may be
/// negative; the others are probabilities.
at::Tensor weights(AttentionKind kind, const Heads& heads, const Sight& sight);

/// What linear attention divides by, for every query: [B, H, Tq, 1]. Undefined for softmax.
at::Tensor denominators(AttentionKind kind, const Heads& heads, const Sight& sight);

}  // namespace roper
