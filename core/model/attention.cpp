#include "core/model/attention.h"

#include <ATen/ATen.h>
#include <cmath>
#include <numbers>

namespace roper {
namespace {

/// As in core/kernels/attention_blocks-inl.h.
constexpr std::int64_t kKeysPerBlock = 128;

at::Tensor divided(const at::Tensor& numerator, const at::Tensor& denominator) {
    return numerator / denominator.clamp_min(kMinDenominator);
}

/// Keys in a query's future: [Tq, Tk] (bool).
at::Tensor futureOf(std::int64_t queries, std::int64_t keys, const at::TensorOptions& options) {
    return at::ones({queries, keys}, options.dtype(at::kBool)).triu(1);
}

/// Similarities of linear attention, 0 for masked keys: [B, H, Tq, Tk].
at::Tensor similarities(AttentionKind kind, const at::Tensor& q, const at::Tensor& k,
                        const AttentionMask& mask) {
    at::Tensor made = at::matmul(q, k.mT());
    if (kind == AttentionKind::linear_cosine) made = made + 1;
    if (mask.visible.defined()) return made.masked_fill(mask.visible.logical_not(), 0);
    return mask.causal ? made.tril() : made;
}

/// Cumulative or total sums of x over tokens: [B, H, T, d] → [B, H, T or 1, d].
at::Tensor sums(const at::Tensor& x, const AttentionMask& mask) {
    return mask.causal ? x.cumsum(2) : x.sum(2, /*keepdim=*/true);
}

/// Number of keys visible to each query: [Tq or 1, 1].
at::Tensor counts(const at::Tensor& k, const AttentionMask& mask) {
    const std::int64_t T = k.size(2);
    return mask.causal ? at::arange(1, T + 1, k.options()).unsqueeze(1) : at::full({1, 1}, T, k.options());
}

at::Tensor mixLinear(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (mask.visible.defined()) return at::matmul(weights(kind, heads, mask), heads.v);
    at::Tensor numerator = mask.causal ? causalProduct(heads.q, heads.k, heads.v)
                                       : at::matmul(heads.q, at::matmul(heads.k.mT(), heads.v));
    if (kind == AttentionKind::linear_cosine) numerator = numerator + sums(heads.v, mask);
    return divided(numerator, denominators(kind, heads, mask));
}

/// Rounded to bfloat16.
at::Tensor rounded(const at::Tensor& x) {
    return x.to(at::kBFloat16).to(at::kFloat);
}

/// Scores with −∞ for masked keys.
at::Tensor masked(const at::Tensor& scores, const AttentionMask& mask) {
    if (mask.added.defined()) return scores + mask.added;
    if (!mask.causal) return scores;
    return scores.masked_fill(futureOf(scores.size(2), scores.size(3), scores.options()), -INFINITY);
}

}  // namespace

AttentionMask sequenceMask(bool causal, std::int64_t T, const at::Tensor& distance_bias) {
    if (!distance_bias.defined()) return {causal, {}, {}};
    const at::Tensor tokens = at::arange(T, distance_bias.options().dtype(at::kLong));
    const at::Tensor distances = (tokens.unsqueeze(1) - tokens + (T - 1)).flatten();
    const at::Tensor bias = distance_bias.index_select(1, distances).view({1, -1, T, T});
    return {causal, {}, causal ? bias.masked_fill(futureOf(T, T, bias.options()), -INFINITY) : bias};
}

AttentionMask decodingMask(const at::Tensor& visible, const at::Tensor& bias,
                           const at::TensorOptions& options) {
    const at::Tensor added = bias.defined() ? bias : at::zeros({1}, options);
    return {false, visible, added.masked_fill(visible.logical_not(), -INFINITY)};
}

at::Tensor denominators(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (kind == AttentionKind::softmax) return {};
    const bool numerator_only = kind == AttentionKind::linear_numerator;
    const at::Tensor &q = numerator_only ? heads.unrotated_q : heads.q,
                     &k = numerator_only ? heads.unrotated_k : heads.k;
    if (mask.visible.defined()) return similarities(kind, q, k, mask).sum(-1, /*keepdim=*/true);
    const at::Tensor total = (q * sums(k, mask)).sum(-1, /*keepdim=*/true);
    return numerator_only ? total : total + counts(k, mask);
}

at::Tensor weights(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (kind != AttentionKind::softmax)
        return divided(similarities(kind, heads.q, heads.k, mask), denominators(kind, heads, mask));
    const at::Tensor scores =
        at::matmul(heads.q, heads.k.mT()) / std::sqrt(static_cast<double>(heads.q.size(3)));
    return at::softmax(masked(scores, mask), -1);
}

RoundedAttention roundedAttention(const Heads& heads, const AttentionMask& mask) {
    // As in the kernels, the scale is applied before rounding (core/kernels/attention_blocks-inl.h).
    const double log2_of_e = std::numbers::log2e, d = static_cast<double>(heads.q.size(3));
    const at::Tensor q = rounded(heads.q * (log2_of_e / std::sqrt(d)));
    const at::Tensor scores = masked(at::matmul(q, rounded(heads.k).mT()) / log2_of_e, mask);
    const at::Tensor v = rounded(heads.v);
    // Weights are rounded relative to the largest score so far, one block of keys at a time.
    at::Tensor largest = at::full_like(scores.narrow(-1, 0, 1), -INFINITY), sum = at::zeros_like(largest),
               mixed = at::zeros_like(heads.q);
    for (std::int64_t first = 0; first < scores.size(3); first += kKeysPerBlock) {
        const at::Tensor block = scores.narrow(-1, first, std::min(kKeysPerBlock, scores.size(3) - first)),
                         now = at::maximum(largest, block.amax(-1, /*keepdim=*/true)),
                         correction = at::exp(largest - now), unscaled = at::exp(block - now);
        sum = sum * correction + unscaled.sum(-1, /*keepdim=*/true);
        mixed = mixed * correction + at::matmul(rounded(unscaled), v.narrow(2, first, block.size(3)));
        largest = now;
    }
    return {at::softmax(scores, -1), mixed / sum};
}

at::Tensor weightedSum(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (kind != AttentionKind::softmax) return mixLinear(kind, heads, mask);
    if (mask.added.defined())
        return at::scaled_dot_product_attention(heads.q, heads.k, heads.v,
                                                mask.added.to(heads.q.scalar_type()));
    return at::scaled_dot_product_attention(heads.q, heads.k, heads.v, {}, 0.0, mask.causal);
}

void KeyValueCache::selectSequences(const at::Tensor& rows) {
    for (auto* layers : {&keys_, &values_, &unrotated_keys_})
        for (at::Tensor& layer : *layers)
            layer = layer.index_select(0, rows);
}

void KeyValueCache::append(const Heads& heads) {
    const auto store = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return;
        const std::int64_t B = made.size(0), H = made.size(1), T = made.size(2), d = made.size(3);
        layers.push_back(at::zeros({B, H, capacity_, d}, made.options()));
        layers.back().narrow(2, 0, T).copy_(made);
    };
    store(keys_, heads.k);
    store(values_, heads.v);
    store(unrotated_keys_, heads.unrotated_k);
}

Heads KeyValueCache::extend(std::size_t layer, const Heads& heads, const at::Tensor& positions,
                            std::int64_t used) {
    const std::int64_t B = heads.k.size(0), H = heads.k.size(1), d = heads.k.size(3);
    const at::Tensor slot = positions.view({B, 1, 1, 1}).expand({B, H, 1, d});
    const auto cachedTokens = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return at::Tensor();
        layers[layer].scatter_(2, slot, made);
        return layers[layer].narrow(2, 0, used);
    };
    return {heads.q, cachedTokens(keys_, heads.k), cachedTokens(values_, heads.v), heads.unrotated_q,
            cachedTokens(unrotated_keys_, heads.unrotated_k)};
}

}  // namespace roper
