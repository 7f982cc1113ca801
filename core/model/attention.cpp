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
    at::Tensor made = at::matmul(q, ofEachHead(k, q.size(1)).mT());
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
    const std::int64_t H = heads.q.size(1);
    const at::Tensor v = ofEachHead(heads.v, H);
    if (mask.visible.defined()) return at::matmul(weights(kind, heads, mask), v);
    const at::Tensor k = ofEachHead(heads.k, H);
    at::Tensor numerator =
        mask.causal ? causalProduct(heads.q, k, v) : at::matmul(heads.q, at::matmul(k.mT(), v));
    if (kind == AttentionKind::linear_cosine) numerator = numerator + sums(v, mask);
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

/// The scores of the sinks for every query: [B, H, Tq, 1]
at::Tensor sinkScores(const at::Tensor& sinks, const at::Tensor& scores) {
    const std::int64_t H = scores.size(1);
    return sinks.view({1, H, 1, 1}).expand({scores.size(0), H, scores.size(2), 1});
}

/// Softmax over the keys and, if there is one, the sink. scores [B, H, Tq, Tk] → the same
at::Tensor softmaxBesideSink(const at::Tensor& scores, const at::Tensor& sinks) {
    if (!sinks.defined()) return at::softmax(scores, -1);
    const at::Tensor whole = scores.to(sinks.scalar_type());
    return at::softmax(at::cat({whole, sinkScores(sinks, whole)}, -1), -1).narrow(-1, 0, scores.size(3));
}

}  // namespace

SplitHeads splitHeads(const at::Tensor& qkv, const HeadLayout& layout) {
    const std::int64_t H = layout.heads, K = layout.kv_heads, d = layout.head_dim;
    if (layout.isUniform()) {
        const at::Tensor all = qkv.unflatten(2, {3, H, d}).permute({2, 0, 3, 1, 4});
        return {all.select(0, 0), all.select(0, 1), all.select(0, 2), all};
    }
    const auto part = [&](std::int64_t first, std::int64_t heads) {
        return qkv.narrow(2, first, heads * d).unflatten(2, {heads, d}).transpose(1, 2);
    };
    const at::Tensor k = part(H * d, K);
    return {part(0, H), k, layout.shared_kv ? k : part((H + K) * d, K), {}};
}

Heads rotatedHeads(const SplitHeads& split, AttentionKind kind, Pairing pairing, const PassPositions& pass,
                   std::size_t layer) {
    const CosSin &queries = pass.queryCosSin(layer), &keys = pass.keyCosSin(layer),
                 &values = pass.valueCosSin(layer);
    const auto rotatedBy = [&](const CosSin& by, const at::Tensor& x) {
        return rotate(x, by.cosine, by.sine, pairing);
    };
    if (kind == AttentionKind::softmax) {
        if (split.all.defined()) {
            const RotatedHeads rotated = rotateHeads(split.all, queries, keys, values, pairing);
            return {rotated.q, rotated.k, rotated.v, {}, {}};
        }
        const at::Tensor k = rotatedBy(keys, split.k);
        const bool are_shared = split.v.is_same(split.k);
        return {rotatedBy(queries, split.q), k, are_shared ? k : rotatedBy(values, split.v), {}, {}};
    }
    const at::Tensor q = featureMap(kind, split.q), k = featureMap(kind, split.k);
    const bool numerator_only = kind == AttentionKind::linear_numerator;
    return {rotatedBy(queries, q), rotatedBy(keys, k), rotatedBy(values, split.v),
            numerator_only ? q : at::Tensor(), numerator_only ? k : at::Tensor()};
}

at::Tensor mergedHeads(const at::Tensor& mixed, Pairing pairing, const PassPositions& pass,
                       std::size_t layer) {
    const CosSin& outputs = pass.outputCosSin(layer);
    return rotate(mixed, outputs.cosine, outputs.sine, pairing, Direction::inverse)
        .transpose(1, 2)
        .flatten(2);
}

at::Tensor ofEachHead(const at::Tensor& x, std::int64_t H) {
    const std::int64_t K = x.size(1);
    return K == H ? x : x.unsqueeze(2).expand({-1, -1, H / K, -1, -1}).flatten(1, 2);
}

AttentionMask sequenceMask(const AttentionScope& scope, std::int64_t T, const at::Tensor& distance_bias,
                           const at::TensorOptions& options) {
    TORCH_CHECK(scope.causal || scope.window == 0, "sequenceMask: a window in both directions");
    const bool is_windowed = scope.window > 0 && scope.window < T;
    if (!distance_bias.defined() && !is_windowed) return {scope.causal, {}, {}};
    at::Tensor hidden = scope.causal ? futureOf(T, T, options) : at::Tensor();
    if (is_windowed) hidden = hidden.logical_or(at::ones({T, T}, hidden.options()).tril(-scope.window));
    if (!distance_bias.defined())
        return {scope.causal, {}, at::zeros({1, 1, T, T}, options).masked_fill(hidden, -INFINITY)};
    const at::Tensor tokens = at::arange(T, distance_bias.options().dtype(at::kLong));
    const at::Tensor distances = (tokens.unsqueeze(1) - tokens + (T - 1)).flatten();
    const at::Tensor bias = distance_bias.index_select(1, distances).view({1, -1, T, T});
    return {scope.causal, {}, hidden.defined() ? bias.masked_fill(hidden, -INFINITY) : bias};
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
                     k = ofEachHead(numerator_only ? heads.unrotated_k : heads.k, q.size(1));
    if (mask.visible.defined()) return similarities(kind, q, k, mask).sum(-1, /*keepdim=*/true);
    const at::Tensor total = (q * sums(k, mask)).sum(-1, /*keepdim=*/true);
    return numerator_only ? total : total + counts(k, mask);
}

at::Tensor weights(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (kind != AttentionKind::softmax)
        return divided(similarities(kind, heads.q, heads.k, mask), denominators(kind, heads, mask));
    const at::Tensor scores = at::matmul(heads.q, ofEachHead(heads.k, heads.q.size(1)).mT()) /
                              std::sqrt(static_cast<double>(heads.q.size(3)));
    return softmaxBesideSink(masked(scores, mask), mask.sinks);
}

RoundedAttention roundedAttention(const Heads& heads, const AttentionMask& mask) {
    // As in the kernels, the scale is applied before rounding (core/kernels/attention_blocks-inl.h).
    const double log2_of_e = std::numbers::log2e, d = static_cast<double>(heads.q.size(3));
    const std::int64_t H = heads.q.size(1);
    const at::Tensor q = rounded(heads.q * (log2_of_e / std::sqrt(d)));
    const at::Tensor k = ofEachHead(rounded(heads.k), H), v = ofEachHead(rounded(heads.v), H);
    const at::Tensor scores = masked(at::matmul(q, k.mT()) / log2_of_e, mask);
    // Weights are rounded relative to the largest score so far, one block of keys at a time.
    // Below any score, yet finite: with windows, a query may see no key of its first block.
    at::Tensor largest = at::full_like(scores.narrow(-1, 0, 1), -1e30), sum = at::zeros_like(largest),
               mixed = at::zeros_like(heads.q);
    if (mask.sinks.defined()) {
        largest = sinkScores(mask.sinks, scores);
        sum = at::ones_like(sum);
    }
    for (std::int64_t first = 0; first < scores.size(3); first += kKeysPerBlock) {
        const at::Tensor block = scores.narrow(-1, first, std::min(kKeysPerBlock, scores.size(3) - first)),
                         now = at::maximum(largest, block.amax(-1, /*keepdim=*/true)),
                         correction = at::exp(largest - now), unscaled = at::exp(block - now);
        sum = sum * correction + unscaled.sum(-1, /*keepdim=*/true);
        mixed = mixed * correction + at::matmul(rounded(unscaled), v.narrow(2, first, block.size(3)));
        largest = now;
    }
    return {softmaxBesideSink(scores, mask.sinks), mixed / sum};
}

at::Tensor weightedSum(AttentionKind kind, const Heads& heads, const AttentionMask& mask) {
    if (kind != AttentionKind::softmax) return mixLinear(kind, heads, mask);
    const std::int64_t H = heads.q.size(1);
    const at::Tensor k = ofEachHead(heads.k, H), v = ofEachHead(heads.v, H);
    if (mask.sinks.defined()) return at::matmul(weights(kind, heads, mask).to(v.scalar_type()), v);
    if (mask.added.defined())
        return at::scaled_dot_product_attention(heads.q, k, v, mask.added.to(heads.q.scalar_type()));
    return at::scaled_dot_product_attention(heads.q, k, v, {}, 0.0, mask.causal);
}

void KeyValueCache::selectSequences(const at::Tensor& rows) {
    for (auto* layers : {&keys_, &values_, &unrotated_keys_})
        for (at::Tensor& layer : *layers)
            layer = layer.index_select(0, rows);
}

void KeyValueCache::append(const Heads& heads) {
    const auto store = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return;
        const std::int64_t B = made.size(0), K = made.size(1), T = made.size(2), d = made.size(3);
        layers.push_back(at::zeros({B, K, capacity_, d}, made.options()));
        layers.back().narrow(2, 0, T).copy_(made);
    };
    store(keys_, heads.k);
    if (!heads.v.is_same(heads.k)) store(values_, heads.v);
    store(unrotated_keys_, heads.unrotated_k);
}

Heads KeyValueCache::extend(std::size_t layer, const Heads& heads, const at::Tensor& positions,
                            std::int64_t used) {
    const std::int64_t B = heads.k.size(0), K = heads.k.size(1), d = heads.k.size(3);
    const at::Tensor slot = positions.view({B, 1, 1, 1}).expand({B, K, 1, d});
    const auto cachedTokens = [&](std::vector<at::Tensor>& layers, const at::Tensor& made) {
        if (!made.defined()) return at::Tensor();
        layers[layer].scatter_(2, slot, made);
        return layers[layer].narrow(2, 0, used);
    };
    const at::Tensor k = cachedTokens(keys_, heads.k);
    return {heads.q, k, heads.v.is_same(heads.k) ? k : cachedTokens(values_, heads.v), heads.unrotated_q,
            cachedTokens(unrotated_keys_, heads.unrotated_k)};
}

}  // namespace roper
