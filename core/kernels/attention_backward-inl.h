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

/// What the backward pass knows of a block of queries.
struct QueryBlock {
    float* queries;            ///< [kQueryBlock, width], turned and scaled
    float* transposed;         ///< [width, kQueryBlock]
    float* output_gradient;    ///< R(n) ∂L/∂o: [kQueryBlock, width]
    float* output_transposed;  ///< [width, kQueryBlock]
    float* minus_log_sums;     ///< [kQueryBlock]; beyond T −∞, so that weights there vanish
    float* minus_shares;       ///< −D_n = −∂L/∂o_n · o_n: [kQueryBlock]
    float* gradient;           ///< of the scaled scores' queries: [width, kQueryBlock]
};

HWY_INLINE HWY_ATTR void loadQueryBlock(const AttentionSetup& setup, const Item& item, const float* qkv,
                                        const float* out, const float* log_sums, const float* grad_out,
                                        std::size_t first, const QueryBlock& block) {
    loadQueries(setup, item, qkv, first, block.queries);
    for (std::size_t i = 0; i < kQueryBlock; ++i) {
        const std::size_t t = first + i;
        float* row = block.output_gradient + i * item.width;
        std::fill(row + (t < setup.T ? setup.d : 0), row + item.width, 0.0F);
        block.minus_log_sums[i] = -kInfinity;
        block.minus_shares[i] = 0;
        if (t >= setup.T) continue;
        const float *gradient = outputRow(grad_out, setup, item, t), *output = outputRow(out, setup, item, t);
        turn(setup, setup.value, t, 1.0F, 1.0F, gradient, row);
        for (std::size_t c = 0; c < setup.d; ++c)
            block.minus_shares[i] -= gradient[c] * output[c];
        block.minus_log_sums[i] = -log_sums[(item.b * setup.H + item.h) * setup.T + t];
    }
    transpose(block.queries, item.width, block.transposed, kQueryBlock, kQueryBlock, item.width);
    transpose(block.output_gradient, item.width, block.output_transposed, kQueryBlock, kQueryBlock,
              item.width);
    std::fill_n(block.gradient, kQueryBlock * item.width, 0.0F);
}

/// For a strip: weights P = 2^(S − log sum) and gradients of the scores, dS = P ∘ (dP − D), in place of S −
/// log sum and dP − D, both [count, kQueryBlock].
/// @param grad_bias  of query − key = 0, or null
HWY_INLINE HWY_ATTR void weightGradients(bool causal, const Meeting& meeting, float* grad_bias, float* scores,
                                         float* gradients) {
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    const std::size_t seen = meeting.seenByAll(causal);
    for (std::size_t w = 0; w < kTileVectors; ++w, scores += lanes(), gradients += lanes()) {
        const std::size_t query = meeting.query + w * lanes();
        const auto weigh = [&](std::size_t j, auto keep) HWY_ATTR {
            float *score = scores + j * kQueryBlock, *gradient = gradients + j * kQueryBlock;
            const std::ptrdiff_t distance = meeting.distance(query, j);
            auto s = hn::LoadU(f, score);
            if (meeting.bias != nullptr) s = hn::Add(s, hn::LoadU(f, meeting.bias + distance));
            const auto p = keep(powerOf2(s));
            const auto ds = hn::Mul(p, hn::LoadU(f, gradient));
            hn::StoreU(p, f, score);
            hn::StoreU(ds, f, gradient);
            if (grad_bias != nullptr)
                hn::StoreU(hn::Add(hn::LoadU(f, grad_bias + distance), ds), f, grad_bias + distance);
        };
        for (std::size_t j = 0; j < seen; ++j)
            weigh(j, [](Vector p) HWY_ATTR { return p; });
        for (std::size_t j = seen; j < meeting.count; ++j)
            weigh(j, [&](Vector p) HWY_ATTR {
                return hn::IfThenZeroElse(hiddenQueries(f, query, meeting.key + j), p);
            });
    }
}

/// Stores the gradients of rows first … first + count − 1 of q, k or v: scale · R(−t) rows.
HWY_INLINE HWY_ATTR void storeGradients(const AttentionSetup& setup, const Item& item, Part part,
                                        std::size_t first, std::size_t count, float scale, const float* rows,
                                        float* grad_qkv) {
    const TurnTable& table = part == Part::value ? setup.value : setup.query_key;
    for (std::size_t i = 0; i < count; ++i)
        turn(setup, table, first + i, -1.0F, scale, rows + i * item.width,
             rowOf(grad_qkv, setup, item, part, first + i));
}

/// All that the gradients of an item are made from and in: arrays in scratch, turned.
struct Arrays {
    float *keys, *values, *grad_keys, *grad_values;  ///< [tokens, width]
    float *scores, *gradients;                       ///< [kKeyBlock, kQueryBlock]
    const float* bias;                               ///< of query − key = 0, or null
    float* grad_bias;                                ///< likewise
};

/// What a block of queries, of which `queries` are looked at, does to the gradients of `rows` keys and values
/// from `key` on, and they to its own.
HWY_INLINE HWY_ATTR void backwardBlock(const AttentionSetup& setup, const Item& item, const Arrays& arrays,
                                       const QueryBlock& now, std::size_t first, std::size_t queries,
                                       std::size_t key, std::size_t rows) {
    const std::size_t width = item.width, from = key * width;
    for (std::size_t at = 0; at < queries; at += kStrip) {
        const std::size_t count = seenKeys(setup.causal, first + at, key, rows);
        float *s = arrays.scores + at, *ds = arrays.gradients + at;
        // S[j][n] = Σ_i K[j][i] Qᵀ[i][n] − log sum_n, dP[j][n] = Σ_i V[j][i] dOᵀ[i][n] − D_n
        multiplyStrip<kTileVectors>(ToRow{now.minus_log_sums + at}, count, width,
                                    ByRows{arrays.keys + from, width}, now.transposed + at, kQueryBlock, s,
                                    kQueryBlock);
        multiplyStrip<kTileVectors>(ToRow{now.minus_shares + at}, count, width,
                                    ByRows{arrays.values + from, width}, now.output_transposed + at,
                                    kQueryBlock, ds, kQueryBlock);
        weightGradients(setup.causal, {first + at, key, count, arrays.bias}, arrays.grad_bias, s, ds);
        // dQᵀ[i][n] += Σ_j Kᵀ[i][j] dS[j][n]
        multiplyStrip<kTileVectors>(ToItself{}, width, count, ByColumns{arrays.keys + from, width}, ds,
                                    kQueryBlock, now.gradient + at, kQueryBlock);
        for (std::size_t j = count; j < rows; ++j) {
            std::fill_n(s + j * kQueryBlock, kStrip, 0.0F);
            std::fill_n(ds + j * kQueryBlock, kStrip, 0.0F);
        }
    }
    // dV[j][i] += Σ_n P[j][n] dO[n][i], dK[j][i] += Σ_n dS[j][n] Q[n][i]; P[j][n] = 0 for n < j
    const auto hidden = setup.causal ? static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(first)
                                     : -static_cast<std::ptrdiff_t>(item.tokens);
    addProduct(rows, width, queries, ByRows{arrays.scores, kQueryBlock}, now.output_gradient, width,
               arrays.grad_values + from, width, hidden);
    addProduct(rows, width, queries, ByRows{arrays.gradients, kQueryBlock}, now.queries, width,
               arrays.grad_keys + from, width, hidden);
}

inline HWY_ATTR void backward(const AttentionSetup& setup, const float* qkv, const float* out,
                              const float* log_sums, const float* grad_out, float* grad_qkv, float* grad_bias,
                              std::size_t item_index, AttentionScratch& scratch) {
    const Item item(setup, item_index);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    Parts parts(scratch.room(4 * all + 5 * block + 2 * kKeyBlock * kQueryBlock + 2 * kQueryBlock +
                             2 * item.distances));
    Arrays arrays{parts.take(all),
                  parts.take(all),
                  parts.take(all),
                  parts.take(all),
                  parts.take(kKeyBlock * kQueryBlock),
                  parts.take(kKeyBlock * kQueryBlock),
                  nullptr,
                  nullptr};
    const QueryBlock now{parts.take(block), parts.take(block),       parts.take(block),
                         parts.take(block), parts.take(kQueryBlock), parts.take(kQueryBlock),
                         parts.take(block)};
    if (setup.bias != nullptr) arrays.bias = loadBias(setup, item, parts.take(item.distances));
    if (grad_bias != nullptr) {
        float* const distances = parts.take(item.distances);
        std::fill_n(distances, item.distances, 0.0F);
        arrays.grad_bias = distances + item.tokens;
    }
    loadTurned(setup, item, qkv, Part::key, arrays.keys);
    loadTurned(setup, item, qkv, Part::value, arrays.values);
    std::fill_n(arrays.grad_keys, all, 0.0F);
    std::fill_n(arrays.grad_values, all, 0.0F);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueryBlock(setup, item, qkv, out, log_sums, grad_out, first, now);
        const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
        const std::size_t queries = std::min(kQueryBlock, (setup.T - first + kStrip - 1) / kStrip * kStrip);
        for (std::size_t key = 0; key < last; key += kKeyBlock)
            backwardBlock(setup, item, arrays, now, first, queries, key, std::min(kKeyBlock, last - key));
        transpose(now.gradient, kQueryBlock, now.queries, item.width, item.width, kQueryBlock);
        storeGradients(setup, item, Part::query, first, std::min(kQueryBlock, setup.T - first),
                       1 / std::sqrt(static_cast<float>(setup.d)), now.queries, grad_qkv);
    }
    // The queries in dS · Q were scaled by log₂e / √d; the scores' own scale is 1 / √d.
    storeGradients(setup, item, Part::key, 0, setup.T, kLn2, arrays.grad_keys, grad_qkv);
    storeGradients(setup, item, Part::value, 0, setup.T, 1.0F, arrays.grad_values, grad_qkv);
    if (grad_bias != nullptr)
        std::copy_n(arrays.grad_bias + 1 - static_cast<std::ptrdiff_t>(setup.T), 2 * setup.T - 1,
                    grad_bias + (item.b * setup.H + item.h) * (2 * setup.T - 1));
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
