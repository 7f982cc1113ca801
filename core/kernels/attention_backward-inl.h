// Gradients of attention of one sequence and group of heads. Included once for every instruction set
// (hwy/foreach_target.h). Notation: S scores, P weights, O outputs, dX = ∂L/∂X, D_n = ∂L/∂o_n · o_n.

#if defined(ROPER_KERNELS_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_ATTENTION_BACKWARD_INL_H_
#undef ROPER_KERNELS_ATTENTION_BACKWARD_INL_H_
#else
#define ROPER_KERNELS_ATTENTION_BACKWARD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/kernels/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Data of a block of queries in the backward pass.
template <class Kind>
struct QueryBlock {
    using Unit = typename Kind::Unit;
    Factor<Kind> queries;          ///< rotated and scaled
    Unit* transposed;              ///< [width / kDepth, kQueryBlock]
    Factor<Kind> output_gradient;  ///< R(n) ∂L/∂o
    Unit* output_transposed;       ///< [width / kDepth, kQueryBlock]
    float* minus_log_sum_exps;     ///< [kQueryBlock]; beyond T −∞, so that weights there vanish
    float* minus_deltas;           ///< −D_n = −∂L/∂o_n · o_n: [kQueryBlock]
    float* gradient;               ///< ∂L/∂q of the scaled queries: [width, kQueryBlock]
};

/// @param buffer  space for four rows
template <class Kind>
HWY_INLINE HWY_ATTR void loadQueryBlock(const AttentionArguments& setup, const Item& item,
                                        const typename Kind::Number* qkv, const typename Kind::Number* out,
                                        const float* log_sum_exps, const typename Kind::Number* grad_out,
                                        std::size_t first, const QueryBlock<Kind>& block, float* buffer) {
    using Number = typename Kind::Number;
    loadQueries(setup, item, qkv, first, block.queries, buffer);
    std::fill_n(block.minus_log_sum_exps, kQueryBlock, -kInfinity);
    std::fill_n(block.minus_deltas, kQueryBlock, 0.0F);
    float *const gradient_buffer = buffer + 2 * item.width, *const output_buffer = buffer + 3 * item.width;
    fillFactor(kQueryBlock, item.width, block.output_gradient, buffer,
               [&](std::size_t i, float* row) HWY_ATTR {
                   const std::size_t t = first + i;
                   std::fill(row + (t < setup.T ? setup.d : 0), row + item.width, 0.0F);
                   if (t >= setup.T) return;
                   const auto floatRowAt = [&](const Number* array, float* row_buffer) HWY_ATTR {
                       const Number* const from = outputRow(array, setup, item, t);
                       prefetchAhead(setup, t, from, outputStride(setup));
                       return toFloatRow(from, setup.d, row_buffer);
                   };
                   const float *gradient = floatRowAt(grad_out, gradient_buffer),
                               *output = floatRowAt(out, output_buffer);
                   rotate(setup, setup.output, t, 1.0F, 1.0F, gradient, row);
                   block.minus_deltas[i] = -dot(gradient, output, setup.d);
                   block.minus_log_sum_exps[i] = -log_sum_exps[(item.b * setup.H + item.h) * setup.T + t];
               });
    const std::size_t steps = item.width / Kind::kDepth;
    transpose(block.queries.rows, steps, block.transposed, kQueryBlock, kQueryBlock, steps);
    transpose(block.output_gradient.rows, steps, block.output_transposed, kQueryBlock, kQueryBlock, steps);
    std::fill_n(block.gradient, kQueryBlock * item.width, 0.0F);
}

/// Weights and score gradients for a block of keys and one of queries. With float32, all except `scores` and
/// `gradients` alias these two.
template <class Kind>
struct ScoreBlock {
    float* scores;                 ///< S − log sum: [kKeyBlock, kQueryBlock]
    float* gradients;              ///< dP − D: [kKeyBlock, kQueryBlock]
    Factor<Kind> weights;          ///< P = 2^(S − log sum), rows of queries: [kKeyBlock, kQueryBlock]
    Factor<Kind> score_gradients;  ///< dS = P ∘ (dP − D), likewise
};

template <class Kind>
ScoreBlock<Kind> scoreBlock(ScratchAllocator& allocator) {
    constexpr std::size_t kAll = kKeyBlock * kQueryBlock;
    float *const scores = allocator.allocate(kAll), *const gradients = allocator.allocate(kAll);
    if constexpr (Kind::kDepth == 1)
        return {scores, gradients, {scores, nullptr}, {gradients, nullptr}};
    else
        return {scores, gradients, allocator.factor<Kind>(kAll, ProductAxis::features),
                allocator.factor<Kind>(kAll, ProductAxis::both)};
}

/// Computes weights and score gradients of a strip that starts at `at` in its block of queries.
/// @param grad_bias  the entry of query − key = 0, or null
template <class Kind>
HWY_INLINE HWY_ATTR void weightGradients(bool causal, const QueryKeyTile& tile, float* grad_bias,
                                         std::size_t at, const ScoreBlock<Kind>& block) {
    using Number = typename Kind::Number;
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    for (std::size_t w = 0; w < kTileVectors; ++w, at += lanes()) {
        const std::size_t query = tile.query + w * lanes();
        auto* const weights = reinterpret_cast<Number*>(block.weights.rows) + at;
        auto* const score_gradients = reinterpret_cast<Number*>(block.score_gradients.rows) + at;
        ColumnWriter<Kind> stacked(block.score_gradients.stacked + (Kind::kDepth == 1 ? 0 : at), kQueryBlock);
        forEachKey(causal, tile, query, [&](std::size_t j, auto masked) HWY_ATTR {
            const std::size_t row = j * kQueryBlock;
            const std::ptrdiff_t distance = tile.distance(query, j);
            auto s = hn::LoadU(f, block.scores + row + at);
            if (tile.bias != nullptr) s = hn::Add(s, hn::LoadU(f, tile.bias + distance));
            const auto p = masked(powerOf2(s));
            const auto ds = hn::Mul(p, hn::LoadU(f, block.gradients + row + at));
            storeNumbers(f, p, weights + row);
            storeNumbers(f, ds, score_gradients + row);
            if constexpr (Kind::kDepth > 1) stacked.put(j, ds);
            if (grad_bias != nullptr)
                hn::StoreU(hn::Add(hn::LoadU(f, grad_bias + distance), ds), f, grad_bias + distance);
        });
        if constexpr (Kind::kDepth > 1) stacked.finish(tile.count);
    }
}

/// Stores the gradients of rows first … first + count − 1 of q, k or v: scale · R(−t) rows. Overwrites
/// `rows`.
template <class Number>
HWY_INLINE HWY_ATTR void storeGradients(const AttentionArguments& setup, const Item& item, QkvPart part,
                                        std::size_t first, std::size_t count, float scale, float* rows,
                                        Number* grad_qkv) {
    for (std::size_t i = 0; i < count; ++i) {
        Number* const to = rowOf(grad_qkv, setup, item, part, first + i);
        prefetchAhead(setup, first + i, to, qkvStride(setup));
        rotateOutput(setup, tableOf(setup, part), first + i, scale, rows + i * item.width, to);
    }
}

/// Inputs and outputs of an item's gradients: arrays in scratch, rotated.
template <class Kind>
struct BackwardBuffers {
    KeysAndValues<Kind> kv;
    float *grad_keys, *grad_values;  ///< [tokens, width]
    ScoreBlock<Kind> scores;
    const float* bias;  ///< the entry of query − key = 0, or null
    float* grad_bias;   ///< likewise
};

/// Adds the contributions of the first `queries` queries of the block at `first` to the gradients of `rows`
/// keys and values from `key` on, and the contributions of these to the queries' gradients.
template <class Kind>
HWY_INLINE HWY_ATTR void backwardBlock(const AttentionArguments& setup, const Item& item,
                                       const BackwardBuffers<Kind>& buffers,
                                       const QueryBlock<Kind>& query_block, std::size_t first,
                                       std::size_t queries, std::size_t key, std::size_t rows) {
    constexpr std::size_t kRow = kQueryBlock / Kind::kDepth, kStripUnits = kStrip / Kind::kDepth;
    const std::size_t width = item.width, feature_steps = width / Kind::kDepth;
    const ScoreBlock<Kind>& scores = buffers.scores;
    for (std::size_t at = 0; at < queries; at += kStrip) {
        const std::size_t count = visibleKeys(setup.causal, first + at, key, rows);
        // S[j][n] = Σ_i K[j][i] Qᵀ[i][n] − log sum_n, dP[j][n] = Σ_i V[j][i] dOᵀ[i][n] − D_n
        multiplyStrip<kTileVectors>(
            StartFromRow{query_block.minus_log_sum_exps + at}, count, feature_steps,
            RowMajorFactor<Kind>{buffers.kv.keys.rows + key * feature_steps, feature_steps},
            query_block.transposed + at, kQueryBlock, scores.scores + at, kQueryBlock);
        multiplyStrip<kTileVectors>(
            StartFromRow{query_block.minus_deltas + at}, count, feature_steps,
            RowMajorFactor<Kind>{buffers.kv.values.rows + key * feature_steps, feature_steps},
            query_block.output_transposed + at, kQueryBlock, scores.gradients + at, kQueryBlock);
        weightGradients(setup.causal, {first + at, key, count, buffers.bias, setup.window}, buffers.grad_bias,
                        at, scores);
        // dQᵀ[i][n] += Σ_j Kᵀ[i][j] dS[j][n]
        multiplyStrip<kTileVectors>(
            AccumulateInto{}, width, steps<Kind>(count),
            ColumnMajorFactor<Kind>{buffers.kv.keys.alongTokens() + key / Kind::kDepth * width, width},
            scores.score_gradients.alongTokens() + at, kQueryBlock, query_block.gradient + at, kQueryBlock);
        for (std::size_t j = count; j < rows; ++j) {
            std::fill_n(scores.weights.rows + j * kRow + at / Kind::kDepth, kStripUnits, 0);
            std::fill_n(scores.score_gradients.rows + j * kRow + at / Kind::kDepth, kStripUnits, 0);
        }
    }
    // dV[j][i] += Σ_n P[j][n] dO[n][i], dK[j][i] += Σ_n dS[j][n] Q[n][i]; P[j][n] = 0 for n < j
    const auto hidden = setup.causal ? static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(first)
                                     : -static_cast<std::ptrdiff_t>(item.tokens);
    const std::size_t from = key * width, depth = queries / Kind::kDepth;
    addProduct(rows, width, depth, RowMajorFactor<Kind>{scores.weights.rows, kRow},
               query_block.output_gradient.alongTokens(), width, buffers.grad_values + from, width, hidden);
    addProduct(rows, width, depth, RowMajorFactor<Kind>{scores.score_gradients.rows, kRow},
               query_block.queries.alongTokens(), width, buffers.grad_keys + from, width, hidden);
}

/// Stores the gradients of an item's keys and values, summed over the heads of its group.
template <class Kind>
HWY_INLINE HWY_ATTR void storeKeyValueGradients(const AttentionArguments& setup, const Item& item,
                                                const BackwardBuffers<Kind>& buffers,
                                                typename Kind::Number* grad_qkv) {
    // The queries in dS · Q are scaled by log₂e / √d; the scale of the scores is 1 / √d.
    constexpr float kKeyScale = kLn2;
    if (setup.shared_kv) {
        const Floats f;
        for (std::size_t i = 0; i < setup.T * item.width; i += lanes())
            hn::StoreU(hn::MulAdd(hn::LoadU(f, buffers.grad_keys + i), hn::Set(f, kKeyScale),
                                  hn::LoadU(f, buffers.grad_values + i)),
                       f, buffers.grad_values + i);
    } else {
        storeGradients(setup, item, QkvPart::key, 0, setup.T, kKeyScale, buffers.grad_keys, grad_qkv);
    }
    storeGradients(setup, item, QkvPart::value, 0, setup.T, 1.0F, buffers.grad_values, grad_qkv);
}

template <class Kind>
HWY_INLINE HWY_ATTR void backward(const AttentionArguments& setup, const typename Kind::Number* qkv,
                                  const typename Kind::Number* out, const float* log_sum_exps,
                                  const typename Kind::Number* grad_out, typename Kind::Number* grad_qkv,
                                  float* grad_bias, std::size_t item_index, AttentionScratch& scratch) {
    const Item item(setup, item_index, Kind::kDepth);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    ScratchAllocator allocator(scratch.buffer(5 * all + 8 * block + 4 * kKeyBlock * kQueryBlock +
                                              2 * kQueryBlock + 4 * item.width + 2 * item.distances));
    float* const buffer = allocator.allocate(4 * item.width);
    BackwardBuffers<Kind> buffers{
        allocateKeysAndValues<Kind>(setup, allocator, all, ProductAxis::both, ProductAxis::features),
        allocator.allocate(all),
        allocator.allocate(all),
        scoreBlock<Kind>(allocator),
        nullptr,
        nullptr};
    const QueryBlock<Kind> query_block{allocator.factor<Kind>(block, ProductAxis::both),
                                       allocator.units<Kind>(block),
                                       allocator.factor<Kind>(block, ProductAxis::both),
                                       allocator.units<Kind>(block),
                                       allocator.allocate(kQueryBlock),
                                       allocator.allocate(kQueryBlock),
                                       allocator.allocate(block)};
    float* const gradient_rows = allocator.allocate(block);
    float *const bias = allocator.allocate(item.distances), *const distances =
                                                                allocator.allocate(item.distances);
    loadKeysAndValues(setup, item, qkv, buffers.kv, buffer);
    std::fill_n(buffers.grad_keys, all, 0.0F);
    std::fill_n(buffers.grad_values, all, 0.0F);
    forEachHead(setup, item, [&](const Item& head) HWY_ATTR {
        if (setup.bias != nullptr) buffers.bias = loadBias(setup, head, bias);
        if (grad_bias != nullptr) {
            std::fill_n(distances, item.distances, 0.0F);
            buffers.grad_bias = distances + item.tokens;
        }
        for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
            loadQueryBlock(setup, head, qkv, out, log_sum_exps, grad_out, first, query_block, buffer);
            const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
            const std::size_t queries = std::min(kQueryBlock, Item::roundUp(setup.T - first, kStrip));
            for (std::size_t key = firstKeyBlock(setup, first); key < last; key += kKeyBlock)
                backwardBlock(setup, head, buffers, query_block, first, queries, key,
                              std::min(kKeyBlock, last - key));
            transpose(query_block.gradient, kQueryBlock, gradient_rows, item.width, item.width, kQueryBlock);
            storeGradients(setup, head, QkvPart::query, first, std::min(kQueryBlock, setup.T - first),
                           1 / std::sqrt(static_cast<float>(setup.d)), gradient_rows, grad_qkv);
        }
        if (grad_bias != nullptr)
            std::copy_n(buffers.grad_bias + 1 - static_cast<std::ptrdiff_t>(setup.T), 2 * setup.T - 1,
                        grad_bias + (head.b * setup.H + head.h) * (2 * setup.T - 1));
    });
    storeKeyValueGradients(setup, item, buffers, grad_qkv);
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
