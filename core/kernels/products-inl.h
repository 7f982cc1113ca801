// Products of small matrices in registers: everything attention does more than T·d times.
// Included once for every instruction set (hwy/foreach_target.h).

#if defined(ROPER_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_PRODUCTS_INL_H_
#undef ROPER_KERNELS_PRODUCTS_INL_H_
#else
#define ROPER_KERNELS_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

/// Numbers in a vector.
HWY_INLINE constexpr std::size_t lanes() {
    return HWY_LANES(float);
}

/// A tile of C is kTileRows × kTileVectors vectors: 16 of 32 registers with AVX-512, 12 of 16 otherwise. The
/// rest holds a row of B and one broadcast number of A.
inline constexpr std::size_t kTileVectors = 2;
inline constexpr std::size_t kTileRows = HWY_MAX_BYTES >= 64 ? 8 : 6;

/// A left factor that stands row by row: A[r][k] = data[r · row + k].
struct ByRows {
    const float* data;
    std::size_t row;

    HWY_INLINE float at(std::size_t r, std::size_t k) const { return data[r * row + k]; }
    HWY_INLINE ByRows from(std::size_t r, std::size_t k) const { return {data + r * row + k, row}; }
};

/// A left factor that stands column by column: A[r][k] = data[k · column + r].
struct ByColumns {
    const float* data;
    std::size_t column;

    HWY_INLINE float at(std::size_t r, std::size_t k) const { return data[k * column + r]; }
    HWY_INLINE ByColumns from(std::size_t r, std::size_t k) const { return {data + k * column + r, column}; }
};

/// What a product is added to.
struct ToItself {};  ///< C += A · B
struct ToRow {       ///< every row of C = start + A · B
    const float* start;
};

/// C [R, W vectors] = … + A [R, depth] · B [depth, W vectors]. b_step and c_row: numbers from row to row.
template <std::size_t R, std::size_t W, class Start, class Left>
HWY_NOINLINE HWY_ATTR void multiplyTile(Start start, std::size_t depth, Left a, const float* HWY_RESTRICT b,
                                        std::size_t b_step, float* HWY_RESTRICT c, std::size_t c_row) {
    const Floats f;
    Vector sums[R][W];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            if constexpr (std::is_same_v<Start, ToRow>)
                sums[r][w] = hn::LoadU(f, start.start + w * lanes());
            else
                sums[r][w] = hn::LoadU(f, c + r * c_row + w * lanes());
    for (std::size_t k = 0; k < depth; ++k) {
        Vector row[W];
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            row[w] = hn::LoadU(f, b + k * b_step + w * lanes());
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
            const Vector broadcast = hn::Set(f, a.at(r, k));
#pragma GCC unroll 2
            for (std::size_t w = 0; w < W; ++w)
                sums[r][w] = hn::MulAdd(broadcast, row[w], sums[r][w]);
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            hn::StoreU(sums[r][w], f, c + r * c_row + w * lanes());
}

/// The same for a number of rows known only now, 1 … kTileRows.
template <std::size_t W, class Start, class Left>
HWY_INLINE HWY_ATTR void multiplyRows(Start start, std::size_t rows, std::size_t depth, Left a,
                                      const float* b, std::size_t b_step, float* c, std::size_t c_row) {
    switch (rows) {
        case 1:
            return multiplyTile<1, W>(start, depth, a, b, b_step, c, c_row);
        case 2:
            return multiplyTile<2, W>(start, depth, a, b, b_step, c, c_row);
        case 3:
            return multiplyTile<3, W>(start, depth, a, b, b_step, c, c_row);
        case 4:
            return multiplyTile<4, W>(start, depth, a, b, b_step, c, c_row);
        case 5:
            return multiplyTile<5, W>(start, depth, a, b, b_step, c, c_row);
#if HWY_MAX_BYTES >= 64
        case 6:
            return multiplyTile<6, W>(start, depth, a, b, b_step, c, c_row);
        case 7:
            return multiplyTile<7, W>(start, depth, a, b, b_step, c, c_row);
#endif
        default:
            return multiplyTile<kTileRows, W>(start, depth, a, b, b_step, c, c_row);
    }
}

/// C [rows, W vectors] = … + A [rows, depth] · B [depth, W vectors].
/// @param zeros  A[r][k] is known to vanish for k < r + zeros, and is not looked at before that
template <std::size_t W, class Start, class Left>
HWY_INLINE HWY_ATTR void multiplyStrip(Start start, std::size_t rows, std::size_t depth, Left a,
                                       const float* b, std::size_t b_step, float* c, std::size_t c_row,
                                       std::ptrdiff_t zeros = -(std::ptrdiff_t{1} << 40)) {
    for (std::size_t r = 0; r < rows;) {
        const std::size_t left = rows - r;
        // Two tiles of middling height run better than a full one and a thin one.
        const std::size_t tile = left >= 2 * kTileRows ? kTileRows : left > kTileRows ? (left + 1) / 2 : left;
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(r) + zeros;
        const std::size_t skipped = first > 0 ? std::min(depth, static_cast<std::size_t>(first)) : 0;
        multiplyRows<W>(start, tile, depth - skipped, a.from(r, skipped), b + skipped * b_step, b_step,
                        c + r * c_row, c_row);
        r += tile;
    }
}

/// C [rows, columns] += A · B for any number of columns that fills whole vectors.
template <class Left>
HWY_INLINE HWY_ATTR void addProduct(std::size_t rows, std::size_t columns, std::size_t depth, Left a,
                                    const float* b, std::size_t b_step, float* c, std::size_t c_row,
                                    std::ptrdiff_t zeros) {
    std::size_t at = 0;
    for (; at + kTileVectors * lanes() <= columns; at += kTileVectors * lanes())
        multiplyStrip<kTileVectors>(ToItself{}, rows, depth, a, b + at, b_step, c + at, c_row, zeros);
    if (at < columns) multiplyStrip<1>(ToItself{}, rows, depth, a, b + at, b_step, c + at, c_row, zeros);
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
