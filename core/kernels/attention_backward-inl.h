// Gradients of attention of one sequence and head. Included once for every instruction set
// (hwy/foreach_target.h).

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
    float* minus_log_sums;         ///< [kQueryBlock]; beyond T −∞, so that weights there vanish
    float* minus_shares;           ///< −D_n = −∂L/∂o_n · o_n: [kQueryBlock]
    float* gradient;               ///< with respect to the scaled queries of the scores: [width, kQueryBlock]
};

/// @param room  space for four rows
template <class Kind>
HWY_INLINE HWY_ATTR void loadQueryBlock(const AttentionSetup& setup, const Item& item,
                                        const typename Kind::Number* qkv, const typename Kind::Number* out,
                                        const float* log_sums, const typename Kind::Number* grad_out,
                                        std::size_t first, const QueryBlock<Kind>& block, float* room) {
    using Number = typename Kind::Number;
    loadQueries(setup, item, qkv, first, block.queries, room);
    std::fill_n(block.minus_log_sums, kQueryBlock, -kInfinity);
    std::fill_n(block.minus_shares, kQueryBlock, 0.0F);
    float *const gradient_room = room + 2 * item.width, *const output_room = room + 3 * item.width;
    fillFactor(kQueryBlock, item.width, block.output_gradient, room, [&](std::size_t i, float* row) HWY_ATTR {
        const std::size_t t = first + i;
        std::fill(row + (t < setup.T ? setup.d : 0), row + item.width, 0.0F);
        if (t >= setup.T) return;
        const auto floatsAt = [&](const Number* array, float* there) HWY_ATTR {
            const Number* const from = outputRow(array, setup, item, t);
            prefetchAfter(setup, t, from, outputStep(setup));
            return floatsOf(from, setup.d, there);
        };
        const float *gradient = floatsAt(grad_out, gradient_room), *output = floatsAt(out, output_room);
        rotate(setup, setup.value, t, 1.0F, 1.0F, gradient, row);
        block.minus_shares[i] = -dot(gradient, output, setup.d);
        block.minus_log_sums[i] = -log_sums[(item.b * setup.H + item.h) * setup.T + t];
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
    float* scores;           ///< S − log sum: [kKeyBlock, kQueryBlock]
    float* gradients;        ///< dP − D: [kKeyBlock, kQueryBlock]
    Factor<Kind> weights;    ///< P = 2^(S − log sum), rows of queries: [kKeyBlock, kQueryBlock]
    Factor<Kind> of_scores;  ///< dS = P ∘ (dP − D), likewise
};

template <class Kind>
ScoreBlock<Kind> scoreBlock(Parts& parts) {
    constexpr std::size_t kAll = kKeyBlock * kQueryBlock;
    float *const scores = parts.take(kAll), *const gradients = parts.take(kAll);
    if constexpr (Kind::kDepth == 1)
        return {scores, gradients, {scores, nullptr}, {gradients, nullptr}};
    else
        return {scores, gradients, parts.factor<Kind>(kAll, Along::features),
                parts.factor<Kind>(kAll, Along::both)};
}

/// Computes weights and score gradients of a strip that starts at `at` in its block of queries.
/// @param grad_bias  at query − key = 0, or null
template <class Kind>
HWY_INLINE HWY_ATTR void weightGradients(bool causal, const Meeting& meeting, float* grad_bias,
                                         std::size_t at, const ScoreBlock<Kind>& block) {
    using Number = typename Kind::Number;
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    for (std::size_t w = 0; w < kTileVectors; ++w, at += lanes()) {
        const std::size_t query = meeting.query + w * lanes();
        auto* const weights = reinterpret_cast<Number*>(block.weights.rows) + at;
        auto* const of_scores = reinterpret_cast<Number*>(block.of_scores.rows) + at;
        ColumnWriter<Kind> stacked(block.of_scores.stacked + (Kind::kDepth == 1 ? 0 : at), kQueryBlock);
        forEachKey(causal, meeting, query, [&](std::size_t j, auto kept) HWY_ATTR {
            const std::size_t row = j * kQueryBlock;
            const std::ptrdiff_t distance = meeting.distance(query, j);
            auto s = hn::LoadU(f, block.scores + row + at);
            if (meeting.bias != nullptr) s = hn::Add(s, hn::LoadU(f, meeting.bias + distance));
            const auto p = kept(powerOf2(s));
            const auto ds = hn::Mul(p, hn::LoadU(f, block.gradients + row + at));
            storeNumbers(f, p, weights + row);
            storeNumbers(f, ds, of_scores + row);
            if constexpr (Kind::kDepth > 1) stacked.put(j, ds);
            if (grad_bias != nullptr)
                hn::StoreU(hn::Add(hn::LoadU(f, grad_bias + distance), ds), f, grad_bias + distance);
        });
        if constexpr (Kind::kDepth > 1) stacked.finish(meeting.count);
    }
}

/// Stores the gradients of rows first … first + count − 1 of q, k or v: scale · R(−t) rows. Overwrites
/// `rows`.
template <class Number>
HWY_INLINE HWY_ATTR void storeGradients(const AttentionSetup& setup, const Item& item, Part part,
                                        std::size_t first, std::size_t count, float scale, float* rows,
                                        Number* grad_qkv) {
    const RotationTable& table = part == Part::query ? setup.query
                                 : part == Part::key ? setup.key
                                                     : setup.value;
    for (std::size_t i = 0; i < count; ++i) {
        Number* const to = rowOf(grad_qkv, setup, item, part, first + i);
        prefetchAfter(setup, first + i, to, qkvStep(setup));
        rotateOutput(setup, table, first + i, scale, rows + i * item.width, to);
    }
}

/// Inputs and outputs of an item's gradients: arrays in scratch, rotated.
template <class Kind>
struct Arrays {
    Factor<Kind> keys, values;
    float *grad_keys, *grad_values;  ///< [tokens, width]
    ScoreBlock<Kind> scores;
    const float* bias;  ///< at query − key = 0, or null
    float* grad_bias;   ///< likewise
};

/// Adds the contributions of a block of queries, of which `queries` are processed, to the gradients of `rows`
/// keys and values from `key` on, and theirs to the queries' gradients.
template <class Kind>
HWY_INLINE HWY_ATTR void backwardBlock(const AttentionSetup& setup, const Item& item,
                                       const Arrays<Kind>& arrays, const QueryBlock<Kind>& now,
                                       std::size_t first, std::size_t queries, std::size_t key,
                                       std::size_t rows) {
    constexpr std::size_t kRow = kQueryBlock / Kind::kDepth, kStripUnits = kStrip / Kind::kDepth;
    const std::size_t width = item.width, feature_steps = width / Kind::kDepth;
    const ScoreBlock<Kind>& scores = arrays.scores;
    for (std::size_t at = 0; at < queries; at += kStrip) {
        const std::size_t count = seenKeys(setup.causal, first + at, key, rows);
        // S[j][n] = Σ_i K[j][i] Qᵀ[i][n] − log sum_n, dP[j][n] = Σ_i V[j][i] dOᵀ[i][n] − D_n
        multiplyStrip<kTileVectors>(ToRow{now.minus_log_sums + at}, count, feature_steps,
                                    ByRows<Kind>{arrays.keys.rows + key * feature_steps, feature_steps},
                                    now.transposed + at, kQueryBlock, scores.scores + at, kQueryBlock);
        multiplyStrip<kTileVectors>(ToRow{now.minus_shares + at}, count, feature_steps,
                                    ByRows<Kind>{arrays.values.rows + key * feature_steps, feature_steps},
                                    now.output_transposed + at, kQueryBlock, scores.gradients + at,
                                    kQueryBlock);
        weightGradients(setup.causal, {first + at, key, count, arrays.bias}, arrays.grad_bias, at, scores);
        // dQᵀ[i][n] += Σ_j Kᵀ[i][j] dS[j][n]
        multiplyStrip<kTileVectors>(
            ToItself{}, width, steps<Kind>(count),
            ByColumns<Kind>{arrays.keys.alongTokens() + key / Kind::kDepth * width, width},
            scores.of_scores.alongTokens() + at, kQueryBlock, now.gradient + at, kQueryBlock);
        for (std::size_t j = count; j < rows; ++j) {
            std::fill_n(scores.weights.rows + j * kRow + at / Kind::kDepth, kStripUnits, 0);
            std::fill_n(scores.of_scores.rows + j * kRow + at / Kind::kDepth, kStripUnits, 0);
        }
    }
    // dV[j][i] += Σ_n P[j][n] dO[n][i], dK[j][i] += Σ_n dS[j][n] Q[n][i]; P[j][n] = 0 for n < j
    const auto hidden = setup.causal ? static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(first)
                                     : -static_cast<std::ptrdiff_t>(item.tokens);
    const std::size_t from = key * width, depth = queries / Kind::kDepth;
    addProduct(rows, width, depth, ByRows<Kind>{scores.weights.rows, kRow}, now.output_gradient.alongTokens(),
               width, arrays.grad_values + from, width, hidden);
    addProduct(rows, width, depth, ByRows<Kind>{scores.of_scores.rows, kRow}, now.queries.alongTokens(),
               width, arrays.grad_keys + from, width, hidden);
}

template <class Kind>
HWY_INLINE HWY_ATTR void backward(const AttentionSetup& setup, const typename Kind::Number* qkv,
                                  const typename Kind::Number* out, const float* log_sums,
                                  const typename Kind::Number* grad_out, typename Kind::Number* grad_qkv,
                                  float* grad_bias, std::size_t item_index, AttentionScratch& scratch) {
    const Item item(setup, item_index, Kind::kDepth);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    Parts parts(scratch.room(5 * all + 8 * block + 4 * kKeyBlock * kQueryBlock + 2 * kQueryBlock +
                             4 * item.width + 2 * item.distances));
    float* const room = parts.take(4 * item.width);
    Arrays<Kind> arrays{parts.factor<Kind>(all, Along::both),
                        parts.factor<Kind>(all, Along::features),
                        parts.take(all),
                        parts.take(all),
                        scoreBlock<Kind>(parts),
                        nullptr,
                        nullptr};
    const QueryBlock<Kind> now{parts.factor<Kind>(block, Along::both),
                               parts.units<Kind>(block),
                               parts.factor<Kind>(block, Along::both),
                               parts.units<Kind>(block),
                               parts.take(kQueryBlock),
                               parts.take(kQueryBlock),
                               parts.take(block)};
    float* const gradient_rows = parts.take(block);
    if (setup.bias != nullptr) arrays.bias = loadBias(setup, item, parts.take(item.distances));
    if (grad_bias != nullptr) {
        float* const distances = parts.take(item.distances);
        std::fill_n(distances, item.distances, 0.0F);
        arrays.grad_bias = distances + item.tokens;
    }
    loadRotated(setup, item, qkv, Part::key, arrays.keys, room);
    loadRotated(setup, item, qkv, Part::value, arrays.values, room);
    std::fill_n(arrays.grad_keys, all, 0.0F);
    std::fill_n(arrays.grad_values, all, 0.0F);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueryBlock(setup, item, qkv, out, log_sums, grad_out, first, now, room);
        const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
        const std::size_t queries = std::min(kQueryBlock, Item::filled(setup.T - first, kStrip));
        for (std::size_t key = 0; key < last; key += kKeyBlock)
            backwardBlock(setup, item, arrays, now, first, queries, key, std::min(kKeyBlock, last - key));
        transpose(now.gradient, kQueryBlock, gradient_rows, item.width, item.width, kQueryBlock);
        storeGradients(setup, item, Part::query, first, std::min(kQueryBlock, setup.T - first),
                       1 / std::sqrt(static_cast<float>(setup.d)), gradient_rows, grad_qkv);
    }
    // The queries in dS · Q are scaled by log₂e / √d; the scale of the scores is 1 / √d.
    storeGradients(setup, item, Part::key, 0, setup.T, kLn2, arrays.grad_keys, grad_qkv);
    storeGradients(setup, item, Part::value, 0, setup.T, 1.0F, arrays.grad_values, grad_qkv);
    if (grad_bias != nullptr)
        std::copy_n(arrays.grad_bias + 1 - static_cast<std::ptrdiff_t>(setup.T), 2 * setup.T - 1,
                    grad_bias + (item.b * setup.H + item.h) * (2 * setup.T - 1));
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
