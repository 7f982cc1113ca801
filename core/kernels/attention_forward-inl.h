// Attention of one sequence and head. Included once for every instruction set (hwy/foreach_target.h).

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
struct Running {
    float* maxima;  ///< [kQueryBlock]
    float* sums;    ///< [kQueryBlock]
    float* mixed;   ///< Σ_j 2^(s_nj − max_n) v_j: [width, kQueryBlock]
};

inline constexpr float kZeros[kStrip] = {};

/// Turns the scores [count, kStrip] of a strip into weights 2^(s − max), a factor of the product with values,
/// and rescales earlier sums and outputs to the new maximum. `at` is the strip's column in `running`.
template <class Kind>
HWY_INLINE HWY_ATTR void softmaxStrip(bool causal, std::size_t width, const Meeting& meeting, std::size_t at,
                                      float* scores, typename Kind::Unit* weights, const Running& running) {
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    const std::size_t seen = meeting.seenByAll(causal);
    for (std::size_t w = 0; w < kTileVectors; ++w, at += lanes(), scores += lanes(), weights += lanes()) {
        const std::size_t query = meeting.query + w * lanes();
        const auto before = hn::LoadU(f, running.maxima + at);
        auto most = before;
        if (meeting.bias != nullptr)
            for (std::size_t j = 0; j < meeting.count; ++j) {
                const float* bias = meeting.bias + meeting.distance(query, j);
                hn::StoreU(hn::Add(hn::LoadU(f, scores + j * kStrip), hn::LoadU(f, bias)), f,
                           scores + j * kStrip);
            }
        for (std::size_t j = 0; j < seen; ++j)
            most = hn::Max(most, hn::LoadU(f, scores + j * kStrip));
        for (std::size_t j = seen; j < meeting.count; ++j) {
            const auto hidden = hiddenQueries(f, query, meeting.key + j);
            most = hn::Max(most, hn::IfThenElse(hidden, before, hn::LoadU(f, scores + j * kStrip)));
        }
        const auto shrink = powerOf2(hn::Sub(before, most));
        auto sum = hn::Mul(hn::LoadU(f, running.sums + at), shrink);
        ColumnWriter<Kind> writer(weights, kStrip);
        forEachKey(causal, meeting, query, [&](std::size_t j, auto kept) HWY_ATTR {
            const auto p = kept(powerOf2(hn::Sub(hn::LoadU(f, scores + j * kStrip), most)));
            writer.put(j, p);
            sum = hn::Add(sum, p);
        });
        writer.finish(meeting.count);
        hn::StoreU(most, f, running.maxima + at);
        hn::StoreU(sum, f, running.sums + at);
        for (std::size_t i = 0; i < width; ++i) {
            float* place = running.mixed + i * kQueryBlock + at;
            hn::StoreU(hn::Mul(hn::LoadU(f, place), shrink), f, place);
        }
    }
}

/// Divides by the sums, rotates back, and stores the rows of a block of queries.
template <class Number>
HWY_INLINE HWY_ATTR void storeMixed(const AttentionSetup& setup, const Item& item, std::size_t first,
                                    const Running& running, float* rows, Number* out, float* log_sums) {
    transpose(running.mixed, kQueryBlock, rows, item.width, item.width, kQueryBlock);
    for (std::size_t i = 0; i < std::min(kQueryBlock, setup.T - first); ++i) {
        const std::size_t t = first + i;
        Number* const to = outputRow(out, setup, item, t);
        prefetchAfter(setup, t, to, outputStep(setup));
        rotateOutput(setup, setup.value, t, 1.0F / running.sums[i], rows + i * item.width, to);
        log_sums[(item.b * setup.H + item.h) * setup.T + t] = running.maxima[i] + std::log2(running.sums[i]);
    }
}

template <class Kind>
HWY_INLINE HWY_ATTR void forward(const AttentionSetup& setup, const typename Kind::Number* qkv,
                                 typename Kind::Number* out, float* log_sums, std::size_t item_index,
                                 AttentionScratch& scratch) {
    const Item item(setup, item_index, Kind::kDepth);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    Parts parts(scratch.room(2 * all + 4 * block + 2 * kKeyBlock * kStrip + 2 * kQueryBlock + 2 * item.width +
                             item.distances));
    float* const room = parts.take(2 * item.width);
    const auto keys = parts.factor<Kind>(all, Along::features),
               values = parts.factor<Kind>(all, Along::tokens);
    const auto rows = parts.factor<Kind>(block, Along::features);
    typename Kind::Unit* const queries = parts.units<Kind>(block);  // [width / kDepth, kQueryBlock]
    float *mixed = parts.take(block), *out_rows = parts.take(block);
    float* scores = parts.take(kKeyBlock * kStrip);
    typename Kind::Unit* const weights = parts.units<Kind>(kKeyBlock * kStrip);
    const Running running{parts.take(kQueryBlock), parts.take(kQueryBlock), mixed};
    const std::size_t feature_steps = item.width / Kind::kDepth;

    const float* bias = setup.bias != nullptr ? loadBias(setup, item, parts.take(item.distances)) : nullptr;
    loadRotated(setup, item, qkv, Part::key, keys, room);
    loadRotated(setup, item, qkv, Part::value, values, room);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueries(setup, item, qkv, first, rows, room);
        transpose(rows.rows, feature_steps, queries, kQueryBlock, kQueryBlock, feature_steps);
        std::fill_n(running.maxima, kQueryBlock, -kInfinity);
        std::fill_n(running.sums, kQueryBlock, 0.0F);
        std::fill_n(mixed, block, 0.0F);
        const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
        for (std::size_t key = 0; key < last; key += kKeyBlock)
            for (std::size_t at = 0; at < kQueryBlock && first + at < setup.T; at += kStrip) {
                const std::size_t count =
                    seenKeys(setup.causal, first + at, key, std::min(kKeyBlock, last - key));
                if (count == 0) continue;
                // S[j][n] = Σ_i K[j][i] Qᵀ[i][n]
                multiplyStrip<kTileVectors>(ToRow{kZeros}, count, feature_steps,
                                            ByRows<Kind>{keys.rows + key * feature_steps, feature_steps},
                                            queries + at, kQueryBlock, scores, kStrip);
                softmaxStrip<Kind>(setup.causal, item.width, {first + at, key, count, bias}, at, scores,
                                   weights, running);
                // Oᵀ[i][n] += Σ_j Vᵀ[i][j] P[j][n]
                multiplyStrip<kTileVectors>(
                    ToItself{}, item.width, steps<Kind>(count),
                    ByColumns<Kind>{values.alongTokens() + key / Kind::kDepth * item.width, item.width},
                    weights, kStrip, mixed + at, kQueryBlock);
            }
        storeMixed(setup, item, first, running, out_rows, out, log_sums);
    }
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
