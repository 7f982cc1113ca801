// Attention of one sequence and group of heads. Included once for every instruction set
// (hwy/foreach_target.h).

#if defined(ROPER_KERNELS_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_ATTENTION_FORWARD_INL_H_
#undef ROPER_KERNELS_ATTENTION_FORWARD_INL_H_
#else
#define ROPER_KERNELS_ATTENTION_FORWARD_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/kernels/attention_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// State of the online softmax over blocks of keys: running maxima, sums and outputs of a block of queries.
struct OnlineSoftmax {
    float* maxima;  ///< [kQueryBlock]
    float* sums;    ///< [kQueryBlock]
    float* mixed;   ///< Σ_j 2^(s_nj − max_n) v_j: [width, kQueryBlock]
};

inline constexpr float kZeros[kStrip] = {};

/// Turns the scores [count, kStrip] of a strip into weights 2^(s − max), a factor of the product with values,
/// and rescales earlier sums and outputs to the new maximum. `at` is the strip's column in `running`.
template <class Kind>
HWY_INLINE HWY_ATTR void softmaxStrip(bool causal, std::size_t width, const QueryKeyTile& tile,
                                      std::size_t at, float* scores, typename Kind::Unit* weights,
                                      const OnlineSoftmax& running) {
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    const auto visible = tile.keysVisibleToAll(causal);
    const std::size_t ends[] = {visible.begin, visible.end, tile.count};
    for (std::size_t w = 0; w < kTileVectors; ++w, at += lanes(), scores += lanes(), weights += lanes()) {
        const std::size_t query = tile.query + w * lanes();
        const auto old_maximum = hn::LoadU(f, running.maxima + at);
        auto maximum = old_maximum;
        if (tile.bias != nullptr)
            for (std::size_t j = 0; j < tile.count; ++j) {
                const float* bias = tile.bias + tile.distance(query, j);
                hn::StoreU(hn::Add(hn::LoadU(f, scores + j * kStrip), hn::LoadU(f, bias)), f,
                           scores + j * kStrip);
            }
        for (std::size_t part = 0, j = 0; part < 3; ++part)
            if (part == 1)
                for (; j < ends[part]; ++j)
                    maximum = hn::Max(maximum, hn::LoadU(f, scores + j * kStrip));
            else
                for (; j < ends[part]; ++j) {
                    const auto hidden = maskedQueries(f, tile, query, j);
                    maximum = hn::Max(maximum,
                                      hn::IfThenElse(hidden, old_maximum, hn::LoadU(f, scores + j * kStrip)));
                }
        const auto correction = powerOf2(hn::Sub(old_maximum, maximum));
        auto sum = hn::Mul(hn::LoadU(f, running.sums + at), correction);
        ColumnWriter<Kind> writer(weights, kStrip);
        forEachKey(causal, tile, query, [&](std::size_t j, auto masked) HWY_ATTR {
            const auto p = masked(powerOf2(hn::Sub(hn::LoadU(f, scores + j * kStrip), maximum)));
            writer.put(j, p);
            sum = hn::Add(sum, p);
        });
        writer.finish(tile.count);
        hn::StoreU(maximum, f, running.maxima + at);
        hn::StoreU(sum, f, running.sums + at);
        for (std::size_t i = 0; i < width; ++i) {
            float* mixed = running.mixed + i * kQueryBlock + at;
            hn::StoreU(hn::Mul(hn::LoadU(f, mixed), correction), f, mixed);
        }
    }
}

/// Divides by the sums, rotates back, and stores the rows of a block of queries.
template <class Number>
HWY_INLINE HWY_ATTR void storeOutputs(const AttentionArguments& setup, const Item& item, std::size_t first,
                                      const OnlineSoftmax& running, float* rows, Number* out,
                                      float* log_sum_exps) {
    transpose(running.mixed, kQueryBlock, rows, item.width, item.width, kQueryBlock);
    for (std::size_t i = 0; i < std::min(kQueryBlock, setup.T - first); ++i) {
        const std::size_t t = first + i;
        Number* const to = outputRow(out, setup, item, t);
        prefetchAhead(setup, t, to, outputStride(setup));
        rotateOutput(setup, setup.output, t, 1.0F / running.sums[i], rows + i * item.width, to);
        log_sum_exps[(item.b * setup.H + item.h) * setup.T + t] =
            running.maxima[i] + std::log2(running.sums[i]);
    }
}

/// Scratch of the forward pass.
template <class Kind>
struct ForwardBuffers {
    KeysAndValues<Kind> kv;
    Factor<Kind> rows;             ///< of a block of queries
    typename Kind::Unit* queries;  ///< the same, transposed: [width / kDepth, kQueryBlock]
    float* out_rows;               ///< [kQueryBlock, width]
    float* scores;                 ///< [kKeyBlock, kStrip]
    typename Kind::Unit* weights;  ///< likewise
    OnlineSoftmax running;
    float* bias;  ///< [distances], if there is one
    float* row;   ///< space for two rows: [2, width]

    ForwardBuffers(const AttentionArguments& setup, const Item& item, AttentionScratch& scratch)
        : ForwardBuffers(setup, item.tokens * item.width, kQueryBlock * item.width, item, scratch) {}

  private:
    ForwardBuffers(const AttentionArguments& setup, std::size_t all, std::size_t block, const Item& item,
                   AttentionScratch& scratch) {
        ScratchAllocator allocator(scratch.buffer(2 * all + 4 * block + 2 * kKeyBlock * kStrip +
                                                  2 * kQueryBlock + 2 * item.width + item.distances));
        row = allocator.allocate(2 * item.width);
        kv = allocateKeysAndValues<Kind>(setup, allocator, all, ProductAxis::features, ProductAxis::tokens);
        rows = allocator.factor<Kind>(block, ProductAxis::features);
        queries = allocator.units<Kind>(block);
        running.mixed = allocator.allocate(block);
        out_rows = allocator.allocate(block);
        scores = allocator.allocate(kKeyBlock * kStrip);
        weights = allocator.units<Kind>(kKeyBlock * kStrip);
        running.maxima = allocator.allocate(kQueryBlock);
        running.sums = allocator.allocate(kQueryBlock);
        bias = allocator.allocate(item.distances);
    }
};

/// The attention of one head to the loaded keys and values of its group.
template <class Kind>
HWY_INLINE HWY_ATTR void forwardHead(const AttentionArguments& setup, const Item& item,
                                     const typename Kind::Number* qkv, const ForwardBuffers<Kind>& buffers,
                                     typename Kind::Number* out, float* log_sum_exps) {
    const std::size_t feature_steps = item.width / Kind::kDepth;
    const OnlineSoftmax& running = buffers.running;
    const float* const bias = setup.bias != nullptr ? loadBias(setup, item, buffers.bias) : nullptr;
    // With windows, a query may see no key of its first block: its maximum stays below any score, yet finite,
    // so that no weight is 2^(−∞ + ∞).
    constexpr float kBelowScores = -1e30F;
    const float first_maximum = std::max(sinkOf(setup, item.h), setup.window > 0 ? kBelowScores : -kInfinity);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueries(setup, item, qkv, first, buffers.rows, buffers.row);
        transpose(buffers.rows.rows, feature_steps, buffers.queries, kQueryBlock, kQueryBlock, feature_steps);
        std::fill_n(running.maxima, kQueryBlock, first_maximum);
        std::fill_n(running.sums, kQueryBlock, setup.sinks != nullptr ? 1.0F : 0.0F);
        std::fill_n(running.mixed, kQueryBlock * item.width, 0.0F);
        const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
        for (std::size_t key = firstKeyBlock(setup, first); key < last; key += kKeyBlock)
            for (std::size_t at = 0; at < kQueryBlock && first + at < setup.T; at += kStrip) {
                const std::size_t count =
                    visibleKeys(setup.causal, first + at, key, std::min(kKeyBlock, last - key));
                const QueryKeyTile tile{first + at, key, count, bias, setup.window};
                if (count == 0 || tile.isBeforeWindows()) continue;
                // S[j][n] = Σ_i K[j][i] Qᵀ[i][n]
                multiplyStrip<kTileVectors>(
                    StartFromRow{kZeros}, count, feature_steps,
                    RowMajorFactor<Kind>{buffers.kv.keys.rows + key * feature_steps, feature_steps},
                    buffers.queries + at, kQueryBlock, buffers.scores, kStrip);
                softmaxStrip<Kind>(setup.causal, item.width, tile, at, buffers.scores, buffers.weights,
                                   running);
                // Oᵀ[i][n] += Σ_j Vᵀ[i][j] P[j][n]
                multiplyStrip<kTileVectors>(
                    AccumulateInto{}, item.width, steps<Kind>(count),
                    ColumnMajorFactor<Kind>{buffers.kv.values.alongTokens() + key / Kind::kDepth * item.width,
                                            item.width},
                    buffers.weights, kStrip, running.mixed + at, kQueryBlock);
            }
        storeOutputs(setup, item, first, running, buffers.out_rows, out, log_sum_exps);
    }
}

template <class Kind>
HWY_INLINE HWY_ATTR void forward(const AttentionArguments& setup, const typename Kind::Number* qkv,
                                 typename Kind::Number* out, float* log_sum_exps, std::size_t item_index,
                                 AttentionScratch& scratch) {
    const Item item(setup, item_index, Kind::kDepth);
    const ForwardBuffers<Kind> buffers(setup, item, scratch);
    loadKeysAndValues(setup, item, qkv, buffers.kv, buffers.row);
    forEachHead(setup, item, [&](const Item& head) HWY_ATTR {
        forwardHead<Kind>(setup, head, qkv, buffers, out, log_sum_exps);
    });
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
