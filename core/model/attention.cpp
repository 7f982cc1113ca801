#include "core/model/attention.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/model/linear_attention.h"

namespace roper {
namespace {

/// Below this a denominator counts as this: all similarities vanish, and with them the numerator.
constexpr double kLeastDenominator = 1e-12;

at::Tensor divided(const at::Tensor& numerator, const at::Tensor& denominator) {
    return numerator / denominator.clamp_min(kLeastDenominator);
}

/// Which keys lie in a query's future: [Tq, Tk] (bool).
at::Tensor futureOf(std::int64_t queries, std::int64_t keys, const at::TensorOptions& options) {
    return at::ones({queries, keys}, options.dtype(at::kBool)).triu(1);
}

/// Similarities of linear attention, 0 for keys that are not seen: [B, H, Tq, Tk].
at::Tensor similarities(AttentionKind kind, const at::Tensor& q, const at::Tensor& k, const Sight& sight) {
    at::Tensor made = at::matmul(q, k.mT());
    if (kind == AttentionKind::linear_cosine) made = made + 1;
    if (sight.seen.defined()) return made.masked_fill(sight.seen.logical_not(), 0);
    return sight.causal ? made.tril() : made;
}

/// Sums of x up to each token, or over all: [B, H, T, d] → [B, H, T or 1, d].
at::Tensor sums(const at::Tensor& x, const Sight& sight) {
    return sight.causal ? x.cumsum(2) : x.sum(2, /*keepdim=*/true);
}

/// How many keys each query sees: [Tq or 1, 1].
at::Tensor counts(const at::Tensor& k, const Sight& sight) {
    const std::int64_t T = k.size(2);
    return sight.causal ? at::arange(1, T + 1, k.options()).unsqueeze(1) : at::full({1, 1}, T, k.options());
}

at::Tensor mixLinear(AttentionKind kind, const Heads& heads, const Sight& sight) {
    if (sight.seen.defined()) return at::matmul(weights(kind, heads, sight), heads.v);
    at::Tensor numerator = sight.causal ? causalProduct(heads.q, heads.k, heads.v)
                                        : at::matmul(heads.q, at::matmul(heads.k.mT(), heads.v));
    if (kind == AttentionKind::linear_cosine) numerator = numerator + sums(heads.v, sight);
    return divided(numerator, denominators(kind, heads, sight));
}

}  // namespace

Sight sightOfSequences(bool causal, std::int64_t T, const at::Tensor& distance_bias) {
    if (!distance_bias.defined()) return {causal, {}, {}};
    const at::Tensor tokens = at::arange(T, distance_bias.options().dtype(at::kLong));
    const at::Tensor distances = (tokens.unsqueeze(1) - tokens + (T - 1)).flatten();
    const at::Tensor bias = distance_bias.index_select(1, distances).view({1, -1, T, T});
    return {causal, {}, causal ? bias.masked_fill(futureOf(T, T, bias.options()), -INFINITY) : bias};
}

Sight sightOfTokens(const at::Tensor& seen, const at::Tensor& bias, const at::TensorOptions& options) {
    const at::Tensor added = bias.defined() ? bias : at::zeros({1}, options);
    return {false, seen, added.masked_fill(seen.logical_not(), -INFINITY)};
}

AttentionKind attentionKindOf(const std::string& name) {
    if (name == "softmax") return AttentionKind::softmax;
    if (name == "linear_numerator") return AttentionKind::linear_numerator;
    TORCH_CHECK(name == "linear_cosine", "unknown attention ", name);
    return AttentionKind::linear_cosine;
}

at::Tensor features(AttentionKind kind, const at::Tensor& x) {
    switch (kind) {
        case AttentionKind::linear_numerator:
            return at::elu(x) + 1;
        case AttentionKind::linear_cosine:
            return x / at::linalg_vector_norm(x, 2, {-1}, /*keepdim=*/true).clamp_min(kLeastDenominator);
        default:
            return x;
    }
}

at::Tensor denominators(AttentionKind kind, const Heads& heads, const Sight& sight) {
    if (kind == AttentionKind::softmax) return {};
    const bool numerator_only = kind == AttentionKind::linear_numerator;
    const at::Tensor &q = numerator_only ? heads.plain_q : heads.q,
                     &k = numerator_only ? heads.plain_k : heads.k;
    if (sight.seen.defined()) return similarities(kind, q, k, sight).sum(-1, /*keepdim=*/true);
    const at::Tensor total = (q * sums(k, sight)).sum(-1, /*keepdim=*/true);
    return numerator_only ? total : total + counts(k, sight);
}

at::Tensor weights(AttentionKind kind, const Heads& heads, const Sight& sight) {
    if (kind != AttentionKind::softmax)
        return divided(similarities(kind, heads.q, heads.k, sight), denominators(kind, heads, sight));
    const at::Tensor scores =
        at::matmul(heads.q, heads.k.mT()) / std::sqrt(static_cast<double>(heads.q.size(3)));
    if (sight.mask.defined()) return at::softmax(scores + sight.mask, -1);
    if (!sight.causal) return at::softmax(scores, -1);
    const at::Tensor future = futureOf(scores.size(2), scores.size(3), scores.options());
    return at::softmax(scores.masked_fill(future, -INFINITY), -1);
}

at::Tensor mix(AttentionKind kind, const Heads& heads, const Sight& sight) {
    if (kind != AttentionKind::softmax) return mixLinear(kind, heads, sight);
    if (sight.mask.defined())
        return at::scaled_dot_product_attention(heads.q, heads.k, heads.v,
                                                sight.mask.to(heads.q.scalar_type()));
    return at::scaled_dot_product_attention(heads.q, heads.k, heads.v, {}, 0.0, sight.causal);
}

}  // namespace roper
