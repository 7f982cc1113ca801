#include "core/kernels/cached_attention.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/cached_attention.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/attention_blocks-inl.h"
#include "hwy/highway.h"

#ifndef ROPER_KERNELS_CACHED_ATTENTION_LAYOUT
#define ROPER_KERNELS_CACHED_ATTENTION_LAYOUT
namespace roper {
namespace {

// Layout of one sequence and key/value head in a cache. Keys are stored in blocks of tokens, feature by
// feature, so that the scores of a block's keys are a row vector times the block; values are stored token by
// token. With bfloat16, consecutive numbers in the direction of a product are adjacent: two features of a
// key, two tokens of a value.
constexpr std::size_t kKeysPerBlock = 32;  ///< two vectors of AVX-512
constexpr std::size_t kWidthMultiple = 16;

constexpr std::size_t roundUp(std::size_t count, std::size_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

/// Features per head in a cache; those beyond d are 0.
constexpr std::size_t cachedWidth(std::size_t d) {
    return roundUp(d, kWidthMultiple);
}

}  // namespace
}  // namespace roper
#endif

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Keys and values of one sequence and key/value head.
template <class Kind>
struct CachedHead {
    using Unit = typename Kind::Unit;

    /// @param K      number of key/value heads of the layer
    /// @param slot   index of the cached sequence
    /// @param group  index of the key/value head
    CachedHead(const CachedLayer<typename Kind::Number>& cache, std::size_t d, std::size_t K,
               std::size_t slot, std::size_t group)
        : width(cachedWidth(d)),
          feature_steps(width / Kind::kDepth),
          keys(unitsAt(cache.keys, cachedElements(d, cache.capacity), slot * K + group)),
          values(unitsAt(cache.values, cachedElements(d, cache.capacity), slot * K + group)) {}

    static Unit* unitsAt(typename Kind::Number* numbers, std::size_t head_size, std::size_t head) {
        return reinterpret_cast<Unit*>(numbers + head * head_size);
    }

    Unit* keyBlock(std::size_t j) const { return keys + j / kKeysPerBlock * feature_steps * kKeysPerBlock; }

    std::size_t width, feature_steps;
    Unit *keys,   ///< [blocks, width / kDepth, kKeysPerBlock]
        *values;  ///< [tokens / kDepth, width]
};

/// Converts a row of numbers to units of a product along it. row: [width] → units [width / kDepth]
template <class Kind>
HWY_INLINE HWY_ATTR void packRow(const float* row, std::size_t width, typename Kind::Unit* units) {
    for (std::size_t i = 0; i < width; i += lanes())
        storeNumbers(Floats(), hn::LoadU(Floats(), row + i),
                     reinterpret_cast<typename Kind::Number*>(units) + i);
}

/// Stores key and value of token j. key, value: rotated [width]; packed: space for a row of units
template <class Kind>
HWY_INLINE HWY_ATTR void storeToken(const CachedHead<Kind>& head, std::size_t j, const float* key,
                                    const float* value, typename Kind::Unit* packed) {
    packRow<Kind>(key, head.width, packed);
    typename Kind::Unit* const column = head.keyBlock(j) + j % kKeysPerBlock;
    for (std::size_t k = 0; k < head.feature_steps; ++k)
        column[k * kKeysPerBlock] = packed[k];
    typename Kind::Unit* const row = head.values + j / Kind::kDepth * head.width;
    if constexpr (Kind::kDepth == 1) {
        std::copy_n(value, head.width, row);
    } else {
        const hn::ScalableTag<std::uint32_t> u;
        for (std::size_t i = 0; i < head.width; i += lanes()) {
            const auto current = hn::LoadU(Floats(), value + i);
            const auto previous = hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::LoadU(u, row + i)));
            hn::StoreU(j % 2 == 0 ? interleaveBFloat16(current, hn::Zero(Floats()))
                                  : interleaveBFloat16(previous, current),
                       u, row + i);
        }
    }
}

/// row [width] = scale · R(t) from, for d numbers padded with 0.
template <class Number>
HWY_INLINE HWY_ATTR void rotatePadded(const AttentionArguments& setup, const RotationTable& table,
                                      std::size_t t, float scale, const Number* from, float* row) {
    rotate(setup, table, t, 1.0F, scale, from, row);
    std::fill(row + setup.d, row + cachedWidth(setup.d), 0.0F);
}

/// Rotates key and value of token t by row `at` of the tables and stores them as token j.
/// @param rows  space for two rows
template <class Kind>
HWY_INLINE HWY_ATTR void cacheToken(const AttentionArguments& setup, const Item& item,
                                    const typename Kind::Number* qkv, std::size_t t, std::size_t at,
                                    const CachedHead<Kind>& head, std::size_t j, float* rows,
                                    typename Kind::Unit* packed) {
    float *const key = rows, *const value = setup.shared_kv ? rows : rows + head.width;
    rotatePadded(setup, setup.key, at, 1.0F, rowOf(qkv, setup, item, QkvPart::key, t), key);
    if (!setup.shared_kv)
        rotatePadded(setup, setup.value, at, 1.0F, rowOf(qkv, setup, item, QkvPart::value, t), value);
    storeToken(head, j, key, value, packed);
}

template <class Kind>
HWY_INLINE HWY_ATTR void cacheRows(const AttentionArguments& setup, const typename Kind::Number* qkv,
                                   const CachedLayer<typename Kind::Number>& cache, std::size_t item_index,
                                   AttentionScratch& scratch) {
    const Item item(setup, item_index, Kind::kDepth);
    const CachedHead<Kind> head(cache, setup.d, setup.K, item.b, item.group);
    ScratchAllocator allocator(scratch.buffer(3 * head.width));
    float* const rows = allocator.allocate(2 * head.width);
    typename Kind::Unit* const packed = allocator.units<Kind>(head.width);
    for (std::size_t t = 0; t < setup.T; ++t)
        cacheToken<Kind>(setup, item, qkv, t, t, head, t, rows, packed);
}

/// Turns scores in units of ln 2, [roundUp(keys, kKeysPerBlock)], into weights 2^(s − max): a factor of the
/// product with values, 0 for the first `hidden` keys and beyond the last one.
/// @param sink  a further score, −∞ if there is none
/// @returns     the sum of all weights, with the sink's
template <class Kind>
HWY_INLINE HWY_ATTR float softmaxRow(float* scores, std::size_t hidden, std::size_t keys, float sink,
                                     typename Kind::Unit* weights) {
    const Floats f;
    const PowerOf2<Floats> powerOf2(f);
    const std::size_t padded_keys = roundUp(keys, kKeysPerBlock);
    std::fill_n(scores, hidden, -kInfinity);
    std::fill(scores + keys, scores + padded_keys, -kInfinity);
    auto maximum = hn::Set(f, sink);
    for (std::size_t j = 0; j < padded_keys; j += lanes())
        maximum = hn::Max(maximum, hn::LoadU(f, scores + j));
    maximum = hn::MaxOfLanes(f, maximum);
    auto sum = hn::Zero(f);
    for (std::size_t j = 0; j < padded_keys; j += lanes()) {
        const auto firstKeys = [&](std::size_t count) HWY_ATTR {
            return hn::FirstN(f, count > j ? std::min(count - j, lanes()) : 0);
        };
        const auto visible = hn::AndNot(firstKeys(hidden), firstKeys(keys));
        const auto p = hn::IfThenElseZero(visible, powerOf2(hn::Sub(hn::LoadU(f, scores + j), maximum)));
        storeNumbers(f, p, reinterpret_cast<typename Kind::Number*>(weights) + j);
        sum = hn::Add(sum, p);
    }
    return hn::GetLane(hn::SumOfLanes(f, sum)) + std::exp2(sink - hn::GetLane(maximum));
}

/// Scratch of one token's attention.
template <class Kind>
struct DecodingBuffers {
    float *query, *key_and_value, *mixed;       ///< [width], [2, width], [width]
    typename Kind::Unit *query_units, *packed;  ///< [width / kDepth]
    typename Kind::Unit* weights;               ///< for all cached tokens
    float* scores;                              ///< likewise

    DecodingBuffers(std::size_t width, std::size_t padded_keys, AttentionScratch& scratch) {
        ScratchAllocator allocator(scratch.buffer(6 * width + 2 * padded_keys));
        query = allocator.allocate(width);
        key_and_value = allocator.allocate(2 * width);
        mixed = allocator.allocate(width);
        query_units = allocator.units<Kind>(width);
        packed = allocator.units<Kind>(width);
        weights = allocator.units<Kind>(padded_keys);
        scores = allocator.allocate(padded_keys);
    }
};

/// The attention of the new token in one head to all `keys` cached tokens.
/// @param bias  β to these, or null
template <class Kind>
HWY_INLINE HWY_ATTR void attendHead(const AttentionArguments& setup, const Item& item,
                                    const typename Kind::Number* qkv, const CachedHead<Kind>& head,
                                    std::size_t keys, const float* bias, const DecodingBuffers<Kind>& buffers,
                                    typename Kind::Number* out) {
    constexpr std::ptrdiff_t kNoZeros = -(std::ptrdiff_t{1} << 40);
    // Blocks before the window are left out.
    const std::size_t all_hidden = setup.window > 0 && keys > setup.window ? keys - setup.window : 0,
                      start = all_hidden / kKeysPerBlock * kKeysPerBlock, used = keys - start,
                      padded_keys = roundUp(used, kKeysPerBlock);
    float* const scores = buffers.scores;
    const float scale = kLog2OfE / std::sqrt(static_cast<float>(setup.d));
    rotatePadded(setup, setup.query, item.b, scale, rowOf(qkv, setup, item, QkvPart::query, 0),
                 buffers.query);
    packRow<Kind>(buffers.query, head.width, buffers.query_units);
    std::fill_n(scores, padded_keys, 0.0F);
    for (std::size_t j = 0; j < padded_keys; j += kKeysPerBlock)
        addProduct(1, kKeysPerBlock, head.feature_steps,
                   RowMajorFactor<Kind>{buffers.query_units, head.feature_steps}, head.keyBlock(start + j),
                   kKeysPerBlock, scores + j, kKeysPerBlock, kNoZeros);
    for (std::size_t j = 0; bias != nullptr && j < used; ++j)
        scores[j] += bias[start + j] * kLog2OfE;
    const float sum =
        softmaxRow<Kind>(scores, all_hidden - start, used, sinkOf(setup, item.h), buffers.weights);
    std::fill_n(buffers.mixed, head.width, 0.0F);
    addProduct(1, head.width, steps<Kind>(used), RowMajorFactor<Kind>{buffers.weights, steps<Kind>(used)},
               head.values + start / Kind::kDepth * head.width, head.width, buffers.mixed, head.width,
               kNoZeros);
    rotateOutput(setup, setup.output, item.b, 1.0F / sum, buffers.mixed, outputRow(out, setup, item, 0));
}

template <class Kind>
HWY_INLINE HWY_ATTR void attendItem(const DecodingArguments& decoding, const typename Kind::Number* qkv,
                                    const CachedLayer<typename Kind::Number>& cache,
                                    typename Kind::Number* out, std::size_t item_index,
                                    AttentionScratch& scratch) {
    const AttentionArguments setup{.B = decoding.B,
                                   .T = 1,
                                   .H = decoding.H,
                                   .K = decoding.K,
                                   .d = decoding.d,
                                   .shared_kv = decoding.shared_kv,
                                   .window = decoding.window,
                                   .pairing = decoding.pairing,
                                   .query = decoding.query,
                                   .key = decoding.key,
                                   .value = decoding.value,
                                   .output = decoding.output,
                                   .sinks = decoding.sinks};
    const Item item(setup, item_index, Kind::kDepth);
    const std::size_t n = static_cast<std::size_t>(decoding.positions[item.b]), keys = n + 1;
    const CachedHead<Kind> head(cache, setup.d, setup.K, static_cast<std::size_t>(decoding.slots[item.b]),
                                item.group);
    const DecodingBuffers<Kind> buffers(head.width, roundUp(keys, kKeysPerBlock), scratch);
    cacheToken<Kind>(setup, item, qkv, 0, item.b, head, n, buffers.key_and_value, buffers.packed);
    forEachHead(setup, item, [&](const Item& one) HWY_ATTR {
        const float* const bias = decoding.bias == nullptr
                                      ? nullptr
                                      : decoding.bias + (one.b * setup.H + one.h) * decoding.bias_keys;
        attendHead(setup, one, qkv, head, keys, bias, buffers, out);
    });
}

HWY_ATTR void cacheFloat32(const AttentionArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                           std::size_t item, AttentionScratch& scratch) {
    cacheRows<Float32Format>(setup, qkv, cache, item, scratch);
}

HWY_ATTR void cacheBFloat16(const AttentionArguments& setup, const BFloat16* qkv,
                            const CachedLayer<BFloat16>& cache, std::size_t item, AttentionScratch& scratch) {
    cacheRows<BFloat16Format>(setup, qkv, cache, item, scratch);
}

HWY_ATTR void attendFloat32(const DecodingArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                            float* out, std::size_t item, AttentionScratch& scratch) {
    attendItem<Float32Format>(setup, qkv, cache, out, item, scratch);
}

HWY_ATTR void attendBFloat16(const DecodingArguments& setup, const BFloat16* qkv,
                             const CachedLayer<BFloat16>& cache, BFloat16* out, std::size_t item,
                             AttentionScratch& scratch) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
    if (kernelsMultiplyBFloat16())
        return attendItem<NativeBFloat16Format>(setup, qkv, cache, out, item, scratch);
#endif
    attendItem<BFloat16Format>(setup, qkv, cache, out, item, scratch);
}

/// out = Σ_j weights_j v_j for the features from `first` on, in kVectors registers.
template <std::size_t kVectors>
HWY_INLINE HWY_ATTR void addWeighted(const RowAttention& rows, const float* weights, std::size_t first,
                                     float* out) {
    const hn::ScalableTag<float> f;
    hn::Vec<decltype(f)> sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v)
        sums[v] = hn::Zero(f);
    const float* value = rows.values + first;
    for (std::size_t j = 0; j < rows.N; ++j, value += rows.value_stride) {
        const auto weight = hn::Set(f, weights[j]);
        for (std::size_t v = 0; v < kVectors; ++v)
            sums[v] = hn::MulAdd(weight, hn::LoadU(f, value + v * hn::Lanes(f)), sums[v]);
    }
    for (std::size_t v = 0; v < kVectors; ++v)
        hn::StoreU(sums[v], f, out + first + v * hn::Lanes(f));
}

HWY_ATTR void attendRows(const RowAttention& rows, const float* q, float* weights, float* out) {
    constexpr float kLog2E = 1.4426950408889634F;
    const hn::ScalableTag<float> f;
    static_assert(hn::MaxLanes(f) <= 16, "RowAttention::spaceFor");
    const std::size_t lanes = hn::Lanes(f);
    float largest = rows.sink;
    for (std::size_t j = 0; j < rows.N; ++j) {
        weights[j] =
            rows.scale * dot(q, rows.keys + static_cast<std::ptrdiff_t>(j) * rows.key_stride, rows.d);
        largest = std::max(largest, weights[j]);
    }
    for (std::size_t j = rows.N; j % lanes != 0; ++j)
        weights[j] = -std::numeric_limits<float>::infinity();
    const PowerOf2 power(f);
    const auto largest_v = hn::Set(f, largest), log2_e = hn::Set(f, kLog2E);
    auto sums = hn::Zero(f);
    for (std::size_t j = 0; j < rows.N; j += lanes) {
        const auto exponent = hn::Mul(hn::Sub(hn::LoadU(f, weights + j), largest_v), log2_e);
        const auto weight = power(exponent);
        hn::StoreU(weight, f, weights + j);
        sums = hn::Add(sums, weight);
    }
    const float inverse = 1 / (hn::GetLane(hn::SumOfLanes(f, sums)) + std::exp(rows.sink - largest));
    const std::size_t width = rows.value_width;
    std::size_t i = 0;
    for (; i + 4 * lanes <= width; i += 4 * lanes)
        addWeighted<4>(rows, weights, i, out);
    for (; i + lanes <= width; i += lanes)
        addWeighted<1>(rows, weights, i, out);
    for (; i < width; ++i) {
        out[i] = 0;
        for (std::size_t j = 0; j < rows.N; ++j)
            out[i] += weights[j] * rows.values[static_cast<std::ptrdiff_t>(j) * rows.value_stride +
                                               static_cast<std::ptrdiff_t>(i)];
    }
    for (i = 0; i < width; ++i)
        out[i] *= inverse;
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(cacheFloat32);
HWY_EXPORT(cacheBFloat16);
HWY_EXPORT(attendFloat32);
HWY_EXPORT(attendBFloat16);
HWY_EXPORT(attendRows);

}  // namespace

std::size_t cachedElements(std::size_t d, std::size_t capacity) {
    return cachedWidth(d) * roundUp(capacity, kKeysPerBlock);
}

void cachePrompt(const AttentionArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                 std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(cacheFloat32)(setup, qkv, cache, item, scratch);
}

void cachePrompt(const AttentionArguments& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                 std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(cacheBFloat16)(setup, qkv, cache, item, scratch);
}

void attendToCache(const DecodingArguments& setup, const float* qkv, const CachedLayer<float>& cache,
                   float* out, std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(attendFloat32)(setup, qkv, cache, out, item, scratch);
}

void attendToCache(const DecodingArguments& setup, const BFloat16* qkv, const CachedLayer<BFloat16>& cache,
                   BFloat16* out, std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(attendBFloat16)(setup, qkv, cache, out, item, scratch);
}

void attendToRows(const RowAttention& rows, const float* q, float* space, float* out) {
    HWY_DYNAMIC_DISPATCH(attendRows)(rows, q, space, out);
}

}  // namespace roper
#endif
