// What forward and backward attention share: how an item is laid out, loaded and cut into blocks.
// Included once for every instruction set (hwy/foreach_target.h).
//
// Scores stand transposed, S[key][query]: a vector runs along queries, so the maximum and the sum over keys
// are plain vector operations, and every product is one of broadcast numbers with vectors (products-inl.h).
// Queries come in blocks, keys in blocks within; with the future hidden, only what is seen is computed.
//
// Scores are kept in units of log 2: queries are scaled by log₂e / √d when they are rotated.

#if defined(ROPER_KERNELS_ATTENTION_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_ATTENTION_BLOCKS_INL_H_
#undef ROPER_KERNELS_ATTENTION_BLOCKS_INL_H_
#else
#define ROPER_KERNELS_ATTENTION_BLOCKS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <type_traits>
#include <utility>

#include "core/kernels/attention.h"
#include "core/kernels/factors-inl.h"
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
    /// @param depth  numbers in a unit of the factors: blocks of 4 × 4 units are transposed
    Item(const AttentionSetup& setup, std::size_t item, std::size_t depth)
        : b(item / setup.H),
          h(item % setup.H),
          width(filled(setup.d, std::max(lanes(), 4 * depth))),
          tokens(filled(setup.T, kQueryBlock)),
          distances(2 * tokens + kQueryBlock) {}

    static std::size_t filled(std::size_t count, std::size_t whole) {
        return (count + whole - 1) / whole * whole;
    }

    std::size_t b, h;
    std::size_t width;      ///< d filled up to whole vectors; the rest is 0
    std::size_t tokens;     ///< T filled up to whole blocks; the rest is 0
    std::size_t distances;  ///< of a bias by distance, filled up likewise
};

/// The directions in which products step through the rows of a factor.
enum class Along { features, tokens, both };

/// Hands out parts of a scratch.
class Parts {
  public:
    explicit Parts(float* next) : next_(next) {}
    float* take(std::size_t floats) { return std::exchange(next_, next_ + floats); }

    /// Room for numbers that stand in units.
    template <class Kind>
    typename Kind::Unit* units(std::size_t numbers) {
        return reinterpret_cast<typename Kind::Unit*>(take(numbers / Kind::kDepth));
    }

    template <class Kind>
    Factor<Kind> factor(std::size_t numbers, Along along) {
        if (Kind::kDepth == 1) return {units<Kind>(numbers), nullptr};
        return {along == Along::tokens ? nullptr : units<Kind>(numbers),
                along == Along::features ? nullptr : units<Kind>(numbers)};
    }

  private:
    float* next_;
};

enum class Part : std::size_t { query, key, value };

/// Numbers from token to token in q, k and v, and in the output.
inline std::size_t qkvStep(const AttentionSetup& setup) {
    return 3 * setup.H * setup.d;
}
inline std::size_t outputStep(const AttentionSetup& setup) {
    return setup.H * setup.d;
}

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

/// A row of d numbers in float32; `room` takes them where they are not.
HWY_INLINE const float* floatsOf(const float* row, std::size_t, float*) {
    return row;
}
HWY_INLINE HWY_ATTR const float* floatsOf(const BFloat16* row, std::size_t d, float* room) {
    const Floats f;
    std::size_t i = 0;
    for (; i + lanes() <= d; i += lanes())
        hn::StoreU(loadNumbers(f, row + i), f, room + i);
    for (; i < d; ++i)
        room[i] = toFloat(row[i]);
    return room;
}

/// to = scale · R(±t) from, whatever numbers `from` has
template <class Number>
HWY_INLINE HWY_ATTR void rotate(const AttentionSetup& setup, const RotationTable& table, std::size_t t,
                                float sign, float scale, const Number* from, float* to) {
    rotateRow(floatsOf(from, setup.d, to), to, setup.d, setup.pairing, table.cosine + t * table.pairs,
              table.sine + t * table.pairs, table.pairs, sign, scale);
}

/// The same for a row of scratch, to whatever numbers `to` has; what stands in `from` is lost.
template <class Number>
HWY_INLINE HWY_ATTR void rotateOutput(const AttentionSetup& setup, const RotationTable& table, std::size_t t,
                                      float scale, float* from, Number* to) {
    if constexpr (std::is_same_v<Number, float>) {
        rotate(setup, table, t, -1.0F, scale, from, to);
    } else {
        rotate(setup, table, t, -1.0F, scale, from, from);
        std::size_t i = 0;
        for (; i + lanes() <= setup.d; i += lanes())
            storeNumbers(Floats(), hn::LoadU(Floats(), from + i), to + i);
        for (; i < setup.d; ++i)
            to[i] = toBFloat16(from[i]);
    }
}

/// Asks the memory for the row some tokens after `row`, that of token t, which will soon be read or written:
/// the rows of one head lie far apart, and the hardware does not see them coming. At the end of a block of
/// queries these are the next one's, a little early.
/// @param step  numbers from token to token
template <class Number>
HWY_INLINE void prefetchAfter(const AttentionSetup& setup, std::size_t t, const Number* row,
                              std::size_t step) {
    constexpr std::size_t kAhead = 8, kCacheLine = 64 / sizeof(Number);
    if (t + kAhead >= setup.T) return;
    for (std::size_t i = 0; i < setup.d; i += kCacheLine)
        hwy::Prefetch(row + kAhead * step + i);
}

/// One rotated and scaled row of q, k or v, 0 beyond d and beyond the last token.
template <class Number>
HWY_INLINE HWY_ATTR void loadRow(const AttentionSetup& setup, const Item& item, const Number* qkv, Part part,
                                 std::size_t t, float scale, float* row) {
    if (t >= setup.T) {
        std::fill_n(row, item.width, 0.0F);
        return;
    }
    const RotationTable& table = part == Part::query ? setup.query
                                 : part == Part::key ? setup.key
                                                     : setup.value;
    const Number* const from = rowOf(qkv, setup, item, part, t);
    prefetchAfter(setup, t, from, qkvStep(setup));
    rotate(setup, table, t, 1.0F, scale, from, row);
    std::fill(row + setup.d, row + item.width, 0.0F);
}

/// All keys or values of an item, rotated.
/// @param room  for two rows
template <class Kind>
HWY_INLINE HWY_ATTR void loadRotated(const AttentionSetup& setup, const Item& item,
                                     const typename Kind::Number* qkv, Part part, const Factor<Kind>& to,
                                     float* room) {
    fillFactor(setup.T, item.width, to, room,
               [&](std::size_t t, float* row) HWY_ATTR { loadRow(setup, item, qkv, part, t, 1.0F, row); });
}

/// A block of rotated queries, scaled: [kQueryBlock, width]; those beyond T are 0.
template <class Kind>
HWY_INLINE HWY_ATTR void loadQueries(const AttentionSetup& setup, const Item& item,
                                     const typename Kind::Number* qkv, std::size_t first,
                                     const Factor<Kind>& to, float* room) {
    const float scale = kLog2OfE / std::sqrt(static_cast<float>(setup.d));
    fillFactor(kQueryBlock, item.width, to, room, [&](std::size_t i, float* row) HWY_ATTR {
        loadRow(setup, item, qkv, Part::query, first + i, scale, row);
    });
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

/// Calls each(j, kept) for every key j of a meeting, for the vector of queries from `query` on: kept(x) is x,
/// or 0 where a query does not see the key.
template <class Each>
HWY_INLINE HWY_ATTR void forEachKey(bool causal, const Meeting& meeting, std::size_t query, Each each) {
    const std::size_t seen = meeting.seenByAll(causal);
    for (std::size_t j = 0; j < seen; ++j)
        each(j, [](Vector x) HWY_ATTR { return x; });
    for (std::size_t j = seen; j < meeting.count; ++j)
        each(j, [&](Vector x) HWY_ATTR {
            return hn::IfThenZeroElse(hiddenQueries(Floats(), query, meeting.key + j), x);
        });
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
