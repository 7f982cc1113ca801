// Common code of forward and backward attention: layout and loading of an item, division into blocks.
// Included once for every instruction set (hwy/foreach_target.h). Kind: format of the factors
// (products-inl.h).
//
// Scores are transposed, S[key][query]: a vector runs along queries, so the maximum and the sum over keys are
// plain vector operations, and every product multiplies broadcast numbers with vectors (products-inl.h). The
// outer loop is over blocks of queries, the inner over blocks of keys; with a causal mask only visible keys
// are computed.
//
// Scores are in units of ln 2, so that weights are powers of 2: rotation scales queries by log₂e / √d.

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

/// Indices of one sequence, key/value head and query head of its group, and the sizes of arrays in scratch.
struct Item {
    /// Selects the first query head of the group.
    /// @param depth  numbers per unit of the factors: blocks of 4 × 4 units are transposed
    Item(const AttentionArguments& setup, std::size_t item, std::size_t depth)
        : b(item / setup.K),
          group(item % setup.K),
          h(group * setup.headsPerItem()),
          width(roundUp(setup.d, std::max(lanes(), 4 * depth))),
          tokens(roundUp(setup.T, kQueryBlock)),
          distances(2 * tokens + kQueryBlock) {}

    static std::size_t roundUp(std::size_t count, std::size_t multiple) {
        return (count + multiple - 1) / multiple * multiple;
    }

    std::size_t b, group, h;  ///< sequence, key/value head, query head
    std::size_t width;        ///< d padded with zeros to whole vectors
    std::size_t tokens;       ///< T padded with zeros to whole blocks
    std::size_t distances;    ///< size of a bias by distance, padded likewise
};

/// The directions in which products traverse the rows of a factor.
enum class ProductAxis { features, tokens, both };

/// Divides the scratch memory of a thread.
class ScratchAllocator {
  public:
    explicit ScratchAllocator(float* next) : next_(next) {}
    float* allocate(std::size_t floats) { return std::exchange(next_, next_ + floats); }

    /// Space for numbers stored in units.
    template <class Kind>
    typename Kind::Unit* units(std::size_t numbers) {
        return reinterpret_cast<typename Kind::Unit*>(allocate(numbers / Kind::kDepth));
    }

    template <class Kind>
    Factor<Kind> factor(std::size_t numbers, ProductAxis axis) {
        if (Kind::kDepth == 1) return {units<Kind>(numbers), nullptr};
        return {axis == ProductAxis::tokens ? nullptr : units<Kind>(numbers),
                axis == ProductAxis::features ? nullptr : units<Kind>(numbers)};
    }

  private:
    float* next_;
};

enum class QkvPart : std::size_t { query, key, value };

/// Stride from token to token in q, k and v, and in the output.
inline std::size_t qkvStride(const AttentionArguments& setup) {
    return setup.rowsPerToken() * setup.d;
}
inline std::size_t outputStride(const AttentionArguments& setup) {
    return setup.H * setup.d;
}

/// A row of q, k or v of token t, for reading or writing.
template <class Number>
Number* rowOf(Number* qkv, const AttentionArguments& setup, const Item& item, QkvPart part, std::size_t t) {
    const std::size_t row = part == QkvPart::query                    ? item.h
                            : part == QkvPart::key || setup.shared_kv ? setup.H + item.group
                                                                      : setup.H + setup.K + item.group;
    return qkv + (item.b * setup.T + t) * qkvStride(setup) + row * setup.d;
}

/// The rotation table of queries, keys or values.
inline const RotationTable& tableOf(const AttentionArguments& setup, QkvPart part) {
    return part == QkvPart::query                    ? setup.query
           : part == QkvPart::key || setup.shared_kv ? setup.key
                                                     : setup.value;
}

/// Calls work(item) for every head of an item's group.
template <class Work>
HWY_INLINE HWY_ATTR void forEachHead(const AttentionArguments& setup, Item item, Work work) {
    for (const std::size_t end = item.h + setup.headsPerItem(); item.h < end; ++item.h)
        work(item);
}

/// A row of the output, or of its gradient.
template <class Number>
Number* outputRow(Number* out, const AttentionArguments& setup, const Item& item, std::size_t t) {
    return out + ((item.b * setup.T + t) * setup.H + item.h) * setup.d;
}

/// A row of d numbers in float32; converted into `buffer` if stored in another type.
HWY_INLINE const float* toFloatRow(const float* row, std::size_t, float*) {
    return row;
}
HWY_INLINE HWY_ATTR const float* toFloatRow(const BFloat16* row, std::size_t d, float* buffer) {
    const Floats f;
    std::size_t i = 0;
    for (; i + lanes() <= d; i += lanes())
        hn::StoreU(loadNumbers(f, row + i), f, buffer + i);
    for (; i < d; ++i)
        buffer[i] = toFloat(row[i]);
    return buffer;
}

/// to = scale · R(±t) from, for any type of `from`
template <class Number>
HWY_INLINE HWY_ATTR void rotate(const AttentionArguments& setup, const RotationTable& table, std::size_t t,
                                float sign, float scale, const Number* from, float* to) {
    rotateRow(toFloatRow(from, setup.d, to), to, setup.d, setup.pairing, table.cosine + t * table.pairs,
              table.sine + t * table.pairs, table.pairs, sign, scale);
}

/// The same for a row in scratch, for any type of `to`; overwrites `from`.
template <class Number>
HWY_INLINE HWY_ATTR void rotateOutput(const AttentionArguments& setup, const RotationTable& table,
                                      std::size_t t, float scale, float* from, Number* to) {
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

/// Prefetches the row a few tokens after `row`, that of token t, for reading or writing: the rows of one head
/// lie too far apart for the hardware prefetcher. At the end of a block of queries this fetches rows of the
/// next block, slightly early.
/// @param step  numbers from token to token
template <class Number>
HWY_INLINE void prefetchAhead(const AttentionArguments& setup, std::size_t t, const Number* row,
                              std::size_t step) {
    constexpr std::size_t kAhead = 8, kCacheLine = 64 / sizeof(Number);
    if (t + kAhead >= setup.T) return;
    for (std::size_t i = 0; i < setup.d; i += kCacheLine)
        hwy::Prefetch(row + kAhead * step + i);
}

/// One rotated and scaled row of q, k or v, 0 beyond d and beyond the last token.
template <class Number>
HWY_INLINE HWY_ATTR void loadRow(const AttentionArguments& setup, const Item& item, const Number* qkv,
                                 QkvPart part, std::size_t t, float scale, float* row) {
    if (t >= setup.T) {
        std::fill_n(row, item.width, 0.0F);
        return;
    }
    const Number* const from = rowOf(qkv, setup, item, part, t);
    prefetchAhead(setup, t, from, qkvStride(setup));
    rotate(setup, tableOf(setup, part), t, 1.0F, scale, from, row);
    std::fill(row + setup.d, row + item.width, 0.0F);
}

/// All keys or values of an item, rotated.
/// @param buffer  space for two rows
template <class Kind>
HWY_INLINE HWY_ATTR void loadRotated(const AttentionArguments& setup, const Item& item,
                                     const typename Kind::Number* qkv, QkvPart part, const Factor<Kind>& to,
                                     float* buffer) {
    fillFactor(setup.T, item.width, to, buffer,
               [&](std::size_t t, float* row) HWY_ATTR { loadRow(setup, item, qkv, part, t, 1.0F, row); });
}

/// The keys and values of an item, rotated. Shared ones are one factor for both.
template <class Kind>
struct KeysAndValues {
    Factor<Kind> keys, values;
};

/// @param of_keys, of_values  directions of the products in which they are factors
template <class Kind>
KeysAndValues<Kind> allocateKeysAndValues(const AttentionArguments& setup, ScratchAllocator& allocator,
                                          std::size_t numbers, ProductAxis of_keys, ProductAxis of_values) {
    if (!setup.shared_kv)
        return {allocator.factor<Kind>(numbers, of_keys), allocator.factor<Kind>(numbers, of_values)};
    const auto both = allocator.factor<Kind>(numbers, ProductAxis::both);
    return {both, both};
}

template <class Kind>
HWY_INLINE HWY_ATTR void loadKeysAndValues(const AttentionArguments& setup, const Item& item,
                                           const typename Kind::Number* qkv, const KeysAndValues<Kind>& to,
                                           float* buffer) {
    loadRotated(setup, item, qkv, QkvPart::key, to.keys, buffer);
    if (!setup.shared_kv) loadRotated(setup, item, qkv, QkvPart::value, to.values, buffer);
}

/// A block of rotated, scaled queries: [kQueryBlock, width]; 0 beyond T.
template <class Kind>
HWY_INLINE HWY_ATTR void loadQueries(const AttentionArguments& setup, const Item& item,
                                     const typename Kind::Number* qkv, std::size_t first,
                                     const Factor<Kind>& to, float* buffer) {
    const float scale = kLog2OfE / std::sqrt(static_cast<float>(setup.d));
    fillFactor(kQueryBlock, item.width, to, buffer, [&](std::size_t i, float* row) HWY_ATTR {
        loadRow(setup, item, qkv, QkvPart::query, first + i, scale, row);
    });
}

/// Loads the β of a head in units of ln 2 into [distances], 0 beyond. @returns the entry of query − key = 0
HWY_INLINE HWY_ATTR const float* loadBias(const AttentionArguments& setup, const Item& item, float* to) {
    std::fill_n(to, item.distances, 0.0F);
    const float* from = setup.bias + item.h * (2 * setup.T - 1);
    for (std::size_t i = 0; i < 2 * setup.T - 1; ++i)
        to[i + 1 + item.tokens - setup.T] = from[i] * kLog2OfE;
    return to + item.tokens;
}

/// The score of a head's sink in units of ln 2, −∞ without one.
inline float sinkOf(const AttentionArguments& setup, std::size_t head) {
    return setup.sinks != nullptr ? setup.sinks[head] * kLog2OfE : -kInfinity;
}

/// Index of the first key in the first block that contains keys visible to queries from `query` on.
inline std::size_t firstKeyBlock(const AttentionArguments& setup, std::size_t query) {
    const bool sees_all = setup.window == 0 || query < setup.window;
    return sees_all ? 0 : (query + 1 - setup.window) / kKeyBlock * kKeyBlock;
}

/// Number of keys, among the `count` from `key` on, that some query of the strip starting at `query` sees.
HWY_INLINE std::size_t visibleKeys(bool causal, std::size_t query, std::size_t key, std::size_t count) {
    if (!causal) return count;
    const std::size_t end = query + kStrip;
    return end <= key ? 0 : std::min(count, end - key);
}

/// A strip of queries with a range of keys.
struct QueryKeyTile {
    std::size_t query, key, count;  ///< first query, first key, number of keys
    const float* bias;              ///< entry of query − key = 0, or null
    std::size_t window;             ///< as in `AttentionArguments`

    /// Distance from key number j of the tile to the query at `from`.
    std::ptrdiff_t distance(std::size_t from, std::size_t j) const {
        return static_cast<std::ptrdiff_t>(from) - static_cast<std::ptrdiff_t>(key + j);
    }

    /// Range of the keys visible to all queries.
    struct Range {
        std::size_t begin, end;
    };
    Range keysVisibleToAll(bool causal) const {
        if (!causal) return {0, count};
        const std::size_t end = query < key ? 0 : std::min(count, query - key + 1);
        const std::size_t after_last = query + kStrip;  // key + begin > last query − window
        if (window == 0 || after_last <= key + window) return {0, end};
        return {std::min(end, after_last - window - key), end};
    }

    /// Whether no query sees a key, because all keys are before their windows.
    bool isBeforeWindows() const { return window > 0 && key + count + window <= query + 1; }
};

/// Mask of the queries, in a vector of queries from `from` on, that must not see key number j of the tile:
/// they precede it, or their window begins after it.
template <class F>
HWY_INLINE HWY_ATTR hn::Mask<F> maskedQueries(F f, const QueryKeyTile& tile, std::size_t from,
                                              std::size_t j) {
    const auto first = [&](std::size_t query) HWY_ATTR {
        return hn::FirstN(f, query > from ? std::min(query - from, lanes()) : 0);
    };
    const std::size_t key = tile.key + j;
    if (tile.window == 0) return first(key);
    return hn::Or(first(key), hn::Not(first(key + tile.window)));
}

/// Calls each(j, masked) for every key j, for the vector of queries from `query` on: masked(x) is x, or 0 for
/// queries that do not see the key.
template <class Each>
HWY_INLINE HWY_ATTR void forEachKey(bool causal, const QueryKeyTile& tile, std::size_t query, Each each) {
    const auto visible = tile.keysVisibleToAll(causal);
    const std::size_t ends[] = {visible.begin, visible.end, tile.count};
    for (std::size_t part = 0, j = 0; part < 3; ++part)
        if (part == 1)
            for (; j < ends[part]; ++j)
                each(j, [](Vector x) HWY_ATTR { return x; });
        else
            for (; j < ends[part]; ++j)
                each(j, [&](Vector x) HWY_ATTR {
                    return hn::IfThenZeroElse(maskedQueries(Floats(), tile, query, j), x);
                });
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
