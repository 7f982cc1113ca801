// Attention of one sequence and head, forward and backward. Included once for every instruction set
// (hwy/foreach_target.h).
//
// Scores stand transposed, S[key][query]: a vector runs along queries, so the maximum and the sum over keys
// are plain vector operations, and every product is one of broadcast numbers with vectors (products-inl.h).
// Queries come in blocks, keys in blocks within; with the future hidden, only what is seen is computed.
//
// Scores are kept in units of log 2: queries are scaled by log₂e / √d when they are turned.

#if defined(ROPER_KERNELS_ATTENTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_ATTENTION_INL_H_
#undef ROPER_KERNELS_ATTENTION_INL_H_
#else
#define ROPER_KERNELS_ATTENTION_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <utility>

#include "core/kernels/attention.h"
#include "core/kernels/products-inl.h"
#include "core/kernels/vectors-inl.h"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline constexpr std::size_t kQueryBlock = 64, kKeyBlock = 128;
inline constexpr std::size_t kStrip = kTileVectors * lanes();  ///< queries computed together
static_assert(kQueryBlock % kStrip == 0 && kQueryBlock % 4 == 0);

inline constexpr float kLog2OfE = std::numbers::log2e_v<float>, kLn2 = std::numbers::ln2_v<float>;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Where one sequence and head stands in the arrays, and what it needs in scratch.
struct Item {
    Item(const AttentionSetup& setup, std::size_t item)
        : b(item / setup.H),
          h(item % setup.H),
          width((setup.d + lanes() - 1) / lanes() * lanes()),
          tokens((setup.T + kQueryBlock - 1) / kQueryBlock * kQueryBlock),
          distances(2 * tokens + kQueryBlock) {}

    std::size_t b, h;
    std::size_t width;      ///< d filled up to whole vectors; the rest is 0
    std::size_t tokens;     ///< T filled up to whole blocks; the rest is 0
    std::size_t distances;  ///< of a bias by distance, filled up likewise
};

/// Hands out parts of a scratch.
class Parts {
  public:
    explicit Parts(float* next) : next_(next) {}
    float* take(std::size_t floats) { return std::exchange(next_, next_ + floats); }

  private:
    float* next_;
};

enum class Part : std::size_t { query, key, value };

/// A row of q, k or v of token t, for reading or writing.
template <class Number>
Number* rowOf(Number* qkv, const AttentionSetup& setup, const Item& item, Part part, std::size_t t) {
    return qkv + (((item.b * setup.T + t) * 3 + static_cast<std::size_t>(part)) * setup.H + item.h) * setup.d;
}

/// A row of the output, or of its gradient.
template <class Number>
Number* outputRow(Number* out, const AttentionSetup& setup, const Item& item, std::size_t t) {
    return out + ((item.b * setup.T + t) * setup.H + item.h) * setup.d;
}

/// to = scale · R(±t) from
HWY_INLINE HWY_ATTR void turn(const AttentionSetup& setup, const TurnTable& table, std::size_t t, float sign,
                              float scale, const float* from, float* to) {
    turnRow(from, to, setup.d, setup.pairing, table.cosine + t * table.pairs, table.sine + t * table.pairs,
            table.pairs, sign, scale);
}

/// Asks the memory for a row some tokens ahead: those of one head lie far apart, and the hardware does not
/// see them coming.
HWY_INLINE void prefetchAfter(const float* qkv, const AttentionSetup& setup, const Item& item, Part part,
                              std::size_t t) {
    constexpr std::size_t kAhead = 8, kCacheLine = 64 / sizeof(float);
    if (t + kAhead >= setup.T) return;
    const float* row = rowOf(qkv, setup, item, part, t + kAhead);
    for (std::size_t i = 0; i < setup.d; i += kCacheLine)
        hwy::Prefetch(row + i);
}

/// All keys or values of an item, turned: [T, width].
HWY_INLINE HWY_ATTR void loadTurned(const AttentionSetup& setup, const Item& item, const float* qkv,
                                    Part part, float* to) {
    const TurnTable& table = part == Part::key ? setup.query_key : setup.value;
    for (std::size_t t = 0; t < setup.T; ++t) {
        float* row = to + t * item.width;
        prefetchAfter(qkv, setup, item, part, t);
        turn(setup, table, t, 1.0F, 1.0F, rowOf(qkv, setup, item, part, t), row);
        std::fill(row + setup.d, row + item.width, 0.0F);
    }
}

/// A block of turned queries, scaled: rows [kQueryBlock, width]; those beyond T are 0.
HWY_INLINE HWY_ATTR void loadQueries(const AttentionSetup& setup, const Item& item, const float* qkv,
                                     std::size_t first, float* to) {
    const float scale = kLog2OfE / std::sqrt(static_cast<float>(setup.d));
    for (std::size_t i = 0; i < kQueryBlock; ++i) {
        float* row = to + i * item.width;
        const std::size_t t = first + i;
        prefetchAfter(qkv, setup, item, Part::query, t);
        if (t < setup.T)
            turn(setup, setup.query_key, t, 1.0F, scale, rowOf(qkv, setup, item, Part::query, t), row);
        std::fill(row + (t < setup.T ? setup.d : 0), row + item.width, 0.0F);
    }
}

/// β of the item's head in units of log 2 into [distances], 0 beyond. → where query − key = 0
HWY_INLINE HWY_ATTR const float* loadBias(const AttentionSetup& setup, const Item& item, float* to) {
    std::fill_n(to, item.distances, 0.0F);
    const float* from = setup.bias + item.h * (2 * setup.T - 1);
    for (std::size_t i = 0; i < 2 * setup.T - 1; ++i)
        to[i + 1 + item.tokens - setup.T] = from[i] * kLog2OfE;
    return to + item.tokens;
}

/// How far a strip of queries starting at `query` sees into the `count` keys from `key` on.
HWY_INLINE std::size_t seenKeys(bool causal, std::size_t query, std::size_t key, std::size_t count) {
    if (!causal) return count;
    const std::size_t end = query + kStrip;
    return end <= key ? 0 : std::min(count, end - key);
}

/// Which of the queries `query` … of a vector come before `key` and must not see it.
template <class F>
HWY_INLINE HWY_ATTR hn::Mask<F> hiddenQueries(F f, std::size_t query, std::size_t key) {
    return hn::FirstN(f, key > query ? key - query : 0);
}

/// Softmax while keys come in blocks: running maxima, sums and outputs of a block of queries.
struct Running {
    float* maxima;  ///< [kQueryBlock]
    float* sums;    ///< [kQueryBlock]
    float* mixed;   ///< Σ_j 2^(s_nj − max_n) v_j: [width, kQueryBlock]
};

inline constexpr float kZeros[kStrip] = {};

/// Where a strip of queries stands against some keys.
struct Meeting {
    std::size_t query, key, count;  ///< first query, first key, number of keys
    const float* bias;              ///< of query − key = 0, or null

    /// From key number j to a query.
    std::ptrdiff_t distance(std::size_t from, std::size_t j) const {
        return static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(key + j);
    }

    /// How many of the keys all of the queries see.
    std::size_t seenByAll(bool causal) const {
        if (!causal) return count;
        return query < key ? 0 : std::min(count, query - key + 1);
    }
};

/// Scores [count, kStrip] of a strip become 2^(s − max); earlier sums and outputs follow a new maximum. `at`
/// is the strip's column in `running`.
HWY_INLINE HWY_ATTR void softmaxStrip(bool causal, std::size_t width, const Meeting& meeting, std::size_t at,
                                      float* scores, const Running& running) {
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    const std::size_t seen = meeting.seenByAll(causal);
    for (std::size_t w = 0; w < kTileVectors; ++w, at += lanes(), scores += lanes()) {
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
        for (std::size_t j = 0; j < seen; ++j) {
            const auto p = powerOf2(hn::Sub(hn::LoadU(f, scores + j * kStrip), most));
            hn::StoreU(p, f, scores + j * kStrip);
            sum = hn::Add(sum, p);
        }
        for (std::size_t j = seen; j < meeting.count; ++j) {
            const auto hidden = hiddenQueries(f, query, meeting.key + j);
            const auto p = powerOf2(hn::Sub(hn::LoadU(f, scores + j * kStrip), most));
            const auto kept = hn::IfThenZeroElse(hidden, p);
            hn::StoreU(kept, f, scores + j * kStrip);
            sum = hn::Add(sum, kept);
        }
        hn::StoreU(most, f, running.maxima + at);
        hn::StoreU(sum, f, running.sums + at);
        for (std::size_t i = 0; i < width; ++i) {
            float* place = running.mixed + i * kQueryBlock + at;
            hn::StoreU(hn::Mul(hn::LoadU(f, place), shrink), f, place);
        }
    }
}

/// Divides by the sums, turns back, and stores the rows of a block of queries.
HWY_INLINE HWY_ATTR void storeMixed(const AttentionSetup& setup, const Item& item, std::size_t first,
                                    const Running& running, float* rows, float* out, float* log_sums) {
    transpose(running.mixed, kQueryBlock, rows, item.width, item.width, kQueryBlock);
    for (std::size_t i = 0; i < std::min(kQueryBlock, setup.T - first); ++i) {
        const std::size_t t = first + i;
        turn(setup, setup.value, t, -1.0F, 1.0F / running.sums[i], rows + i * item.width,
             outputRow(out, setup, item, t));
        log_sums[(item.b * setup.H + item.h) * setup.T + t] = running.maxima[i] + std::log2(running.sums[i]);
    }
}

inline HWY_ATTR void forward(const AttentionSetup& setup, const float* qkv, float* out, float* log_sums,
                             std::size_t item_index, AttentionScratch& scratch) {
    const Item item(setup, item_index);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    Parts parts(scratch.room(2 * all + 3 * block + kKeyBlock * kStrip + 2 * kQueryBlock + item.distances));
    float *keys = parts.take(all), *values = parts.take(all);
    float *rows = parts.take(block), *queries = parts.take(block), *mixed = parts.take(block);
    float* scores = parts.take(kKeyBlock * kStrip);
    const Running running{parts.take(kQueryBlock), parts.take(kQueryBlock), mixed};

    const float* bias = setup.bias != nullptr ? loadBias(setup, item, parts.take(item.distances)) : nullptr;
    loadTurned(setup, item, qkv, Part::key, keys);
    loadTurned(setup, item, qkv, Part::value, values);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueries(setup, item, qkv, first, rows);
        transpose(rows, item.width, queries, kQueryBlock, kQueryBlock, item.width);
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
                multiplyStrip<kTileVectors>(ToRow{kZeros}, count, item.width,
                                            ByRows{keys + key * item.width, item.width}, queries + at,
                                            kQueryBlock, scores, kStrip);
                softmaxStrip(setup.causal, item.width, {first + at, key, count, bias}, at, scores, running);
                // Oᵀ[i][n] += Σ_j Vᵀ[i][j] P[j][n]
                multiplyStrip<kTileVectors>(ToItself{}, item.width, count,
                                            ByColumns{values + key * item.width, item.width}, scores, kStrip,
                                            mixed + at, kQueryBlock);
            }
        storeMixed(setup, item, first, running, rows, out, log_sums);
    }
}

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

inline HWY_ATTR void backward(const AttentionSetup& setup, const float* qkv, const float* out,
                              const float* log_sums, const float* grad_out, float* grad_qkv,
                              float* grad_bias_out, std::size_t item_index, AttentionScratch& scratch) {
    const Item item(setup, item_index);
    const std::size_t all = item.tokens * item.width, block = kQueryBlock * item.width;
    Parts parts(scratch.room(4 * all + 5 * block + 2 * kKeyBlock * kQueryBlock + 2 * kQueryBlock +
                             2 * item.distances));
    float *keys = parts.take(all), *values = parts.take(all);
    float *grad_keys = parts.take(all), *grad_values = parts.take(all);
    const QueryBlock now{parts.take(block), parts.take(block),       parts.take(block),
                         parts.take(block), parts.take(kQueryBlock), parts.take(kQueryBlock),
                         parts.take(block)};
    float *scores = parts.take(kKeyBlock * kQueryBlock), *gradients = parts.take(kKeyBlock * kQueryBlock);
    float* const grad_distances = grad_bias_out != nullptr ? parts.take(item.distances) : nullptr;
    float* grad_bias = grad_distances != nullptr ? grad_distances + item.tokens : nullptr;

    const float* bias = setup.bias != nullptr ? loadBias(setup, item, parts.take(item.distances)) : nullptr;
    loadTurned(setup, item, qkv, Part::key, keys);
    loadTurned(setup, item, qkv, Part::value, values);
    std::fill_n(grad_keys, all, 0.0F);
    std::fill_n(grad_values, all, 0.0F);
    if (grad_bias != nullptr) std::fill_n(grad_distances, item.distances, 0.0F);
    for (std::size_t first = 0; first < setup.T; first += kQueryBlock) {
        loadQueryBlock(setup, item, qkv, out, log_sums, grad_out, first, now);
        const std::size_t last = setup.causal ? std::min(setup.T, first + kQueryBlock) : setup.T;
        const std::size_t queries = std::min(kQueryBlock, (setup.T - first + kStrip - 1) / kStrip * kStrip);
        for (std::size_t key = 0; key < last; key += kKeyBlock) {
            const std::size_t rows = std::min(kKeyBlock, last - key);
            const std::size_t from = key * item.width;
            for (std::size_t at = 0; at < queries; at += kStrip) {
                const std::size_t count = seenKeys(setup.causal, first + at, key, rows);
                float *s = scores + at, *ds = gradients + at;
                // S[j][n] = Σ_i K[j][i] Qᵀ[i][n] − log sum_n, dP[j][n] = Σ_i V[j][i] dOᵀ[i][n] − D_n
                multiplyStrip<kTileVectors>(ToRow{now.minus_log_sums + at}, count, item.width,
                                            ByRows{keys + from, item.width}, now.transposed + at, kQueryBlock,
                                            s, kQueryBlock);
                multiplyStrip<kTileVectors>(ToRow{now.minus_shares + at}, count, item.width,
                                            ByRows{values + from, item.width}, now.output_transposed + at,
                                            kQueryBlock, ds, kQueryBlock);
                weightGradients(setup.causal, {first + at, key, count, bias}, grad_bias, s, ds);
                // dQᵀ[i][n] += Σ_j Kᵀ[i][j] dS[j][n]
                multiplyStrip<kTileVectors>(ToItself{}, item.width, count, ByColumns{keys + from, item.width},
                                            ds, kQueryBlock, now.gradient + at, kQueryBlock);
                for (std::size_t j = count; j < rows; ++j) {
                    std::fill_n(s + j * kQueryBlock, kStrip, 0.0F);
                    std::fill_n(ds + j * kQueryBlock, kStrip, 0.0F);
                }
            }
            // dV[j][i] += Σ_n P[j][n] dO[n][i], dK[j][i] += Σ_n dS[j][n] Q[n][i]; P[j][n] = 0 for n < j
            const auto hidden = setup.causal
                                    ? static_cast<std::ptrdiff_t>(key) - static_cast<std::ptrdiff_t>(first)
                                    : -static_cast<std::ptrdiff_t>(item.tokens);
            addProduct(rows, item.width, queries, ByRows{scores, kQueryBlock}, now.output_gradient,
                       item.width, grad_values + from, item.width, hidden);
            addProduct(rows, item.width, queries, ByRows{gradients, kQueryBlock}, now.queries, item.width,
                       grad_keys + from, item.width, hidden);
        }
        transpose(now.gradient, kQueryBlock, now.queries, item.width, item.width, kQueryBlock);
        storeGradients(setup, item, Part::query, first, std::min(kQueryBlock, setup.T - first),
                       1 / std::sqrt(static_cast<float>(setup.d)), now.queries, grad_qkv);
    }
    // The queries in `gradients` · Q were scaled by log₂e / √d; the scores' own scale is 1 / √d.
    storeGradients(setup, item, Part::key, 0, setup.T, kLn2, grad_keys, grad_qkv);
    storeGradients(setup, item, Part::value, 0, setup.T, 1.0F, grad_values, grad_qkv);
    if (grad_bias != nullptr)
        std::copy_n(grad_bias + 1 - static_cast<std::ptrdiff_t>(setup.T), 2 * setup.T - 1,
                    grad_bias_out + (item.b * setup.H + item.h) * (2 * setup.T - 1));
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
