#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "core/kernels/cached_attention.h"
#include "core/language_model/activated.h"
#include "core/language_model/decoder.h"
#include "core/operators/linear_attention.h"
#include "core/operators/rotary_operator.h"
#include "core/operators/tensor_data.h"
#include "core/operators/threads.h"

// Attention weights and weighted sums. T tokens, H heads, K key/value heads, d = head_dim, v the width of
// values.

namespace roper {
namespace {

/// Number of work items of the kernel: K, one for each key/value head with its group of query heads, or a
/// multiple of K if K items would leave threads idle. A group that is divided into several items needs a copy
/// of its keys and values for each.
std::int64_t itemsFor(std::int64_t heads, std::int64_t kv_heads, std::int64_t sequences,
                      std::int64_t threads) {
    for (std::int64_t items = kv_heads; items < heads; items += kv_heads)
        if (heads % items == 0 && (sequences * items % threads == 0 || sequences * items >= 4 * threads))
            return items;
    return heads;
}

}  // namespace

/// Whether the attention kernel of training can be used: weights are the softmax of scaled products and
/// nothing else, every query sees all keys up to its own, or all, and no hook receives the weights. The
/// kernel's exponentials are wrong by up to four units in the last place, which recurrent layers would
/// amplify, so models with such layers do not use it.
bool Decoder::isPlain(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass) const {
    const Architecture& model = architecture();
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(view.layer)];
    const bool is_whole =
        !model.isWindowed(view.layer) || (model.window >= pass.tokens && (model.causal || !model.chunked));
    return model.attention == AttentionKind::softmax && model.mixers.empty() && pass.cache == nullptr &&
           is_whole && !pass.recorder.receivesAttention(view.layer) && !block.sinks &&
           model.score_softcap == 0 && !pass.bias.defined() && !pass.key_bias.defined() &&
           !view.masked_keys.defined() && all.k.size(0) == all.v.size(0) && all.k.size(2) == all.v.size(2);
}

/// `weightedSum` by the attention kernel, without a matrix of weights → [H, tokens of all sequences, d]
at::Tensor Decoder::fusedWeightedSum(const LayerView& view, const DecoderCache::Layer& all,
                                     const Pass& pass) const {
    const Architecture& model = architecture();
    const std::int64_t H = model.heads, K = all.k.size(0), d = all.k.size(2), rows = all.k.size(1);
    const std::int64_t items = itemsFor(H, K, pass.sequences, at::get_num_threads());
    const at::Tensor qkv = at::empty({rows, H + 2 * items, d}, at::kFloat),
                     out = at::empty({rows, H, d}, at::kFloat),
                     log_sum_exps = at::empty({pass.sequences, H, pass.tokens}, at::kFloat);
    // The kernel divides products by √d.
    const double scale = model.scoreScaleOf(view.layer) * std::sqrt(static_cast<double>(d));
    at::Tensor queries = qkv.narrow(1, 0, H);
    at::mul_out(queries, view.rotated_q.transpose(0, 1), at::scalar_tensor(scale));
    for (const auto& [from, at] : {std::pair(all.k, H), std::pair(all.v, H + items)})
        qkv.narrow(1, at, items)
            .view({rows, K, items / K, d})
            .copy_(from.transpose(0, 1).unsqueeze(2).expand({rows, K, items / K, d}));
    AttentionArguments setup;
    setup.B = static_cast<std::size_t>(pass.sequences);
    setup.T = static_cast<std::size_t>(pass.tokens);
    setup.H = static_cast<std::size_t>(H);
    setup.K = static_cast<std::size_t>(items);
    setup.d = static_cast<std::size_t>(d);
    setup.causal = model.causal;
    forEachItem<AttentionScratch>(setup.items(), [&](std::size_t item, AttentionScratch& scratch) {
        attendForward(setup, typedData<float>(qkv), typedData<float>(out), typedData<float>(log_sum_exps),
                      item, scratch);
    });
    return out.transpose(0, 1);
}

/// `weightedSum` of one softmax query that sees all keys from position `from` on, without a row of weights
/// for hooks: Σ_j exp(s_j − m) v_j / (Σ_j exp(s_j − m) + exp(sink − m)), m = max_j s_j → [H, 1, v]
at::Tensor Decoder::singleQueryWeightedSum(const LayerView& view, const DecoderCache::Layer& all,
                                           std::int64_t from, const at::Tensor& sinks) const {
    const Architecture& model = architecture();
    const std::int64_t H = model.heads, N = all.k.size(1), d = all.k.size(2), v = all.v.size(2);
    const auto scale = static_cast<float>(model.scoreScaleOf(view.layer));
    const at::Tensor q = view.rotated_q.contiguous(), mixed = at::empty({H, 1, v}, at::kFloat);
    const at::Tensor k = all.k.stride(2) == 1 ? all.k : all.k.contiguous(),
                     values = all.v.stride(2) == 1 ? all.v : all.v.contiguous();
    const std::int64_t keys = N - from;
    constexpr std::int64_t kProductsPerTask = 1 << 15;
    at::parallel_for(0, H, std::max<std::int64_t>(1, kProductsPerTask / (keys * (d + v))),
                     [&](std::int64_t begin, std::int64_t end) {
                         std::vector<float> space(RowAttention::spaceFor(static_cast<std::size_t>(keys)));
                         for (std::int64_t head = begin; head < end; ++head) {
                             const std::int64_t key_head = head * k.size(0) / H,
                                                value_head = head * values.size(0) / H;
                             RowAttention rows{static_cast<std::size_t>(keys), static_cast<std::size_t>(d),
                                               static_cast<std::size_t>(v), scale};
                             if (sinks.defined()) rows.sink = typedData<float>(sinks)[head];
                             rows.keys = typedData<float>(k) + key_head * k.stride(0) + from * k.stride(1);
                             rows.values = typedData<float>(values) + value_head * values.stride(0) +
                                           from * values.stride(1);
                             rows.key_stride = k.stride(1);
                             rows.value_stride = values.stride(1);
                             attendToRows(rows, typedData<float>(q) + head * d, space.data(),
                                          typedData<float>(mixed) + head * v);
                         }
                     });
    return mixed;
}

/// The weights of linear attention for queries from `begin` on and the first `keys` keys [H, queries, keys];
/// `hidden` [queries, keys] marks masked keys; undefined if there are none.
at::Tensor Decoder::linearWeights(const LayerView& view, const DecoderCache::Layer& all, std::int64_t begin,
                                  std::int64_t queries, std::int64_t keys, const at::Tensor& hidden) const {
    const auto products = [&](const at::Tensor& q, const at::Tensor& k) {
        const std::int64_t H = q.size(0), K = k.size(0);
        const at::Tensor of_groups = q.narrow(1, begin, queries).reshape({K, H / K * queries, q.size(2)});
        at::Tensor similarities =
            at::bmm(of_groups, k.narrow(1, 0, keys).transpose(1, 2)).view({H, queries, keys});
        return hidden.defined() ? similarities.masked_fill_(hidden, 0) : similarities;
    };
    at::Tensor similarities = products(view.rotated_q, all.k);
    const bool is_cosine = architecture().attention == AttentionKind::linear_cosine;
    if (is_cosine) similarities.add_(1);
    if (is_cosine && hidden.defined()) similarities.masked_fill_(hidden, 0);
    const at::Tensor counted = is_cosine ? similarities : products(view.unrotated_q, all.unrotated_k);
    return similarities / counted.sum(-1, /*keepdim=*/true).clamp_min(kMinDenominator);
}

at::Tensor maskedByPosition(const Architecture& model, std::int64_t layer, const at::Tensor& n,
                            const at::Tensor& j) {
    const at::Tensor distance = n - j;
    const bool is_windowed = model.isWindowed(layer);
    // Chunks are causal in transformers 5.24 even if `is_causal` is false.
    if (is_windowed && model.chunked) return (distance < 0).logical_or_(distance > n.remainder(model.window));
    at::Tensor hidden = model.causal ? distance < 0 : at::zeros_like(distance, at::kBool);
    if (!is_windowed) return hidden;
    // For bidirectional attention, windows extend to both sides.
    return hidden.logical_or_(distance.abs() >= model.window);
}

/// `weightedSum` of one sequence, with a matrix of weights for each block of queries.
at::Tensor Decoder::blockwiseWeightedSum(const LayerView& view, const DecoderCache::Layer& all,
                                         const Pass& pass) {
    const Architecture& model = architecture();
    const auto& sink_location = model_.weights.blocks[static_cast<std::size_t>(view.layer)].sinks;
    const at::Tensor sinks = sink_location ? weights_.vector(*sink_location) : at::Tensor();
    const std::int64_t H = model.heads, T = pass.tokens;
    const double scale = model.scoreScaleOf(view.layer);
    const std::int64_t window = model.isWindowed(view.layer) ? model.window : pass.first + T + 1;
    const bool is_chunked = model.chunked && model.isWindowed(view.layer);
    const bool has_rules = pass.bias.defined() || pass.key_bias.defined() || view.masked_keys.defined() ||
                           model.score_softcap > 0 || is_chunked;
    if (T == 1 && model.causal && model.mixers.empty() && !has_rules &&
        !pass.recorder.receivesAttention(view.layer) && model.attention == AttentionKind::softmax)
        return singleQueryWeightedSum(view, all, std::max<std::int64_t>(0, pass.first + 1 - window), sinks);
    const at::Tensor mixed = at::empty({H, T, model.valueWidthOf(view.layer)}, at::kFloat);
    for (std::int64_t begin = 0; begin < T; begin += kQueries) {
        const std::int64_t queries = std::min<std::int64_t>(kQueries, T - begin), first = pass.first + begin;
        // Keys outside this range are masked for all queries of the block.
        const std::int64_t from = is_chunked     ? first - first % window
                                  : model.causal ? std::max<std::int64_t>(0, first - window + 1)
                                                 : 0,
                           end = model.causal ? first + queries : pass.first + T;
        const auto grouped = [&](const at::Tensor& x, std::int64_t heads) {
            return x.reshape({heads, H / heads * queries, x.size(2)});
        };
        const at::Tensor n = at::arange(first, first + queries).unsqueeze(1), j = at::arange(from, end);
        at::Tensor hidden;  // undefined if all keys are seen, as by a single causal query
        if (!model.causal || queries > 1) hidden = maskedByPosition(model, view.layer, n, j);
        if (view.masked_keys.defined()) {
            const at::Tensor here = view.masked_keys.narrow(0, begin, queries).narrow(1, from, end - from);
            hidden = hidden.defined() ? hidden.logical_or(here) : here;
        }
        const auto softmaxWeights = [&] {
            at::Tensor scores =
                at::bmm(grouped(view.rotated_q.narrow(1, begin, queries) * scale, all.k.size(0)),
                        all.k.narrow(1, from, end - from).transpose(1, 2));
            scores = capped(scores, model.score_softcap).view({H, queries, end - from});
            if (pass.bias.defined())
                scores.add_(
                    pass.bias.index_select(1, (n - j + (pass.bias.size(1) / 2)).flatten()).view_as(scores));
            if (pass.key_bias.defined()) scores.add_(pass.key_bias.narrow(1, from, end - from).unsqueeze(1));
            if (hidden.defined()) scores.masked_fill_(hidden, -INFINITY);
            if (!sinks.defined()) return at::softmax(scores, -1);
            const at::Tensor with_sink = at::cat({scores, sinks.view({H, 1, 1}).expand({H, queries, 1})}, -1);
            return at::softmax(with_sink, -1).narrow(-1, 0, scores.size(-1)).contiguous();
        };
        const at::Tensor weights = model.attention == AttentionKind::softmax
                                       ? softmaxWeights()
                                       : linearWeights(view, all, begin, queries, end, hidden);
        if (pass.recorder.receivesAttention(view.layer))
            pass.recorder.attention(view.layer, first,
                                    from == 0 ? weights : at::constant_pad_nd(weights, {from, 0}));
        const at::Tensor of_values =
            at::bmm(grouped(weights, all.v.size(0)), all.v.narrow(1, from, end - from));
        mixed.narrow(1, begin, queries).copy_(of_values.view({H, queries, mixed.size(2)}));
    }
    return mixed;
}

/// Σ_j a_nj v_j of every head, for queries from position `pass.first` on → [H, tokens of all sequences, v]
/// @param all  keys and values of all positions up to the last query: [heads, pass.first + T, d]; several
/// sequences follow one another
at::Tensor Decoder::weightedSum(const LayerView& view, const DecoderCache::Layer& all, const Pass& pass) {
    if (isPlain(view, all, pass)) return fusedWeightedSum(view, all, pass);
    if (pass.sequences == 1) return blockwiseWeightedSum(view, all, pass);
    std::vector<at::Tensor> sums;
    for (std::int64_t s = 0; s < pass.sequences; ++s) {
        const auto of = [&](const at::Tensor& x) {
            return x.defined() ? x.narrow(1, s * pass.tokens, pass.tokens) : x;
        };
        LayerView part = view;
        part.unrotated_q = of(view.unrotated_q);
        part.rotated_q = of(view.rotated_q);
        sums.push_back(blockwiseWeightedSum(part, {of(all.k), of(all.v), of(all.unrotated_k)}, pass));
    }
    return at::cat(sums, 1);
}

// The indexer of DeepSeek Sparse Attention (DeepSeek V3.2, arXiv 2512.02556, section 2.1). For h heads of
// width d, with the latent vector c_n of a query and the normed residual x_j of a token,
//
//   q_n = R W_q c_n [h, d],  k_j = R norm(W_k x_j) [d]
//   score_nj = Σ_i (W_w x_n)_i / √h · max(q_ni · k_j / √d, 0)   summed over the heads i
//
// R rotates the first features by the angles of the attention's queries and keys, but always with half-split
// pairing. A query sees the preceding keys with the largest scores. DeepSeek's own code also applies a
// Hadamard transform to both vectors; it changes no product and is omitted here.

/// @param queries  latent vectors c [T, query_rank]
/// @returns [T, N] for N tokens so far, true where a key is hidden; undefined if none is
at::Tensor Decoder::keysHiddenByIndexer(const at::Tensor& x, const at::Tensor& queries, std::int64_t layer,
                                        const Pass& pass) {
    const KeyIndexer& sizes = architecture().indexer;
    const IndexerWeights& by = *model_.weights.blocks[static_cast<std::size_t>(layer)].latent->indexer;
    const std::size_t index = architecture().rotation_of_layer[static_cast<std::size_t>(layer)];
    const auto rotatedByHalves = [](const at::Tensor& of, const CosSin& angles) {
        return rotateByTensorOps(of, angles.cosine, angles.sine, Pairing::half, Direction::forward);
    };
    constexpr double kEpsilon = 1e-6;
    const at::Tensor own =
        at::layer_norm(linear(x, by.key), {sizes.head_dim}, weights_.vector(*by.key_norm.weight),
                       weights_.vector(*by.key_norm.bias), kEpsilon);
    at::Tensor k = rotatedByHalves(own.unsqueeze(0), pass.rotations[index].keys);
    if (pass.cache != nullptr) k = pass.cache->append(layer, &DecoderCache::Layer::indexer_k, k);
    const std::int64_t T = pass.tokens, N = k.size(1);
    if (N <= sizes.keys) return {};

    const at::Tensor q =
        rotatedByHalves(linear(queries, by.query).unflatten(1, {sizes.heads, sizes.head_dim}).transpose(0, 1),
                        pass.rotations[index].queries);
    const at::Tensor head_weights = linear(x, by.of_heads) / std::sqrt(static_cast<double>(sizes.heads));
    at::Tensor hidden = at::ones({T, N}, at::kBool);
    for (std::int64_t begin = 0; begin < T; begin += kQueries) {
        const std::int64_t count = std::min<std::int64_t>(kQueries, T - begin);
        const at::Tensor of_heads =  // [h, count, N]
            at::relu(at::matmul(q.narrow(1, begin, count), k.transpose(1, 2)) /
                     std::sqrt(static_cast<double>(sizes.head_dim)));
        at::Tensor scores = (of_heads * head_weights.narrow(0, begin, count).t().unsqueeze(-1)).sum(0);
        const at::Tensor n = at::arange(pass.first + begin, pass.first + begin + count).unsqueeze(1);
        if (architecture().causal) scores.masked_fill_(at::arange(N) > n, -INFINITY);
        hidden.narrow(0, begin, count).scatter_(1, std::get<1>(at::topk(scores, sizes.keys)), false);
    }
    return hidden;
}

}  // namespace roper
