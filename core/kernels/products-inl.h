// Products of small matrices in registers, which do all the work of attention beyond T·d operations for T
// tokens of d features. Included once for every instruction set (hwy/foreach_target.h).

#if defined(ROPER_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_PRODUCTS_INL_H_
#undef ROPER_KERNELS_PRODUCTS_INL_H_
#else
#define ROPER_KERNELS_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/kernels/bfloat16.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

/// Numbers per vector.
HWY_INLINE constexpr std::size_t lanes() {
    return HWY_LANES(float);
}

/// A tile of C is kTileRows × kTileVectors vectors: 16 of 32 registers with AVX-512, 12 of 16 otherwise. The
/// remaining registers hold a row of B and one broadcast number of A.
inline constexpr std::size_t kTileVectors = 2;
inline constexpr std::size_t kTileRows = HWY_MAX_BYTES >= 64 ? 8 : 6;

/// Factors of float32. A product advances by one number per step.
struct Float32Format {
    using Number = float;                     ///< type of the input and output arrays
    using Unit = float;                       ///< what a product consumes per step
    static constexpr std::size_t kDepth = 1;  ///< numbers per unit

    static HWY_INLINE HWY_ATTR Vector multiplyAdd(Vector a, Vector b, Vector sum) {
        return hn::MulAdd(a, b, sum);
    }
};

/// Factors of bfloat16, summed in float32. A product consumes two numbers per step: a unit holds number 2k in
/// its lower half, and 2k + 1.
struct BFloat16Format {
    using Number = BFloat16;
    using Unit = std::uint32_t;
    static constexpr std::size_t kDepth = 2;
    using Units = hn::Vec<hn::ScalableTag<Unit>>;

    static HWY_INLINE HWY_ATTR Vector multiplyAdd(Units a, Units b, Vector sum) {
        return hn::MulAdd(lower(a), lower(b), hn::MulAdd(upper(a), upper(b), sum));
    }

  private:
    static HWY_INLINE HWY_ATTR Vector lower(Units pairs) {
        return hn::BitCast(Floats(), hn::ShiftLeft<16>(pairs));
    }
    static HWY_INLINE HWY_ATTR Vector upper(Units pairs) {
        return hn::BitCast(Floats(), hn::And(pairs, hn::Set(hn::ScalableTag<Unit>(), 0xFFFF0000U)));
    }
};

#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
/// The same with the instruction of AVX512-BF16, for which Highway has no target. Written in assembly, since
/// GCC inlines the intrinsic only into functions compiled exclusively for such CPUs.
struct NativeBFloat16Format : BFloat16Format {
    static HWY_INLINE HWY_ATTR Vector multiplyAdd(Units a, Units b, Vector sum) {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
        return sum;
    }
};
#endif

/// Steps of a product over `numbers` numbers; an odd last one is paired with 0.
template <class Kind>
HWY_INLINE constexpr std::size_t steps(std::size_t numbers) {
    return (numbers + Kind::kDepth - 1) / Kind::kDepth;
}

/// A row-major left factor: A[r][k] = data[r · row + k].
template <class K>
struct RowMajorFactor {
    using Kind = K;
    const typename Kind::Unit* data;
    std::size_t row;  ///< units per row

    HWY_INLINE auto at(std::size_t r, std::size_t k) const { return data[r * row + k]; }
    HWY_INLINE RowMajorFactor from(std::size_t r, std::size_t k) const { return {data + r * row + k, row}; }
};

/// A column-major left factor: A[r][k] = data[k · column + r].
template <class K>
struct ColumnMajorFactor {
    using Kind = K;
    const typename Kind::Unit* data;
    std::size_t column;  ///< units per column, with padding

    HWY_INLINE auto at(std::size_t r, std::size_t k) const { return data[k * column + r]; }
    HWY_INLINE ColumnMajorFactor from(std::size_t r, std::size_t k) const {
        return {data + k * column + r, column};
    }
};

/// Start value of a product.
struct AccumulateInto {};  ///< C += A · B
struct StartFromRow {      ///< every row of C = start + A · B
    const float* start;
};

/// The right factor for a left one: units, row-major.
template <class Left>
using RightFactor = const typename Left::Kind::Unit*;

/// C [R, W vectors] = … + A [R, depth] · B [depth, W vectors]. depth: in steps; b_stride (units) and c_stride
/// (numbers): strides between rows.
template <std::size_t R, std::size_t W, class Start, class Left>
HWY_NOINLINE HWY_ATTR void multiplyTile(Start start, std::size_t depth, Left a,
                                        RightFactor<Left> HWY_RESTRICT b, std::size_t b_stride,
                                        float* HWY_RESTRICT c, std::size_t c_stride) {
    using Kind = typename Left::Kind;
    const Floats f;
    const hn::ScalableTag<typename Kind::Unit> units;
    Vector sums[R][W];
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            if constexpr (std::is_same_v<Start, StartFromRow>)
                sums[r][w] = hn::LoadU(f, start.start + w * lanes());
            else
                sums[r][w] = hn::LoadU(f, c + r * c_stride + w * lanes());
    for (std::size_t k = 0; k < depth; ++k) {
        hn::Vec<decltype(units)> row[W];
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            row[w] = hn::LoadU(units, b + k * b_stride + w * lanes());
#pragma GCC unroll 8
        for (std::size_t r = 0; r < R; ++r) {
            const auto broadcast = hn::Set(units, a.at(r, k));
#pragma GCC unroll 2
            for (std::size_t w = 0; w < W; ++w)
                sums[r][w] = Kind::multiplyAdd(broadcast, row[w], sums[r][w]);
        }
    }
#pragma GCC unroll 8
    for (std::size_t r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (std::size_t w = 0; w < W; ++w)
            hn::StoreU(sums[r][w], f, c + r * c_stride + w * lanes());
}

/// The same for a number of rows known only at run time, 1 … kTileRows.
template <std::size_t W, class Start, class Left>
HWY_INLINE HWY_ATTR void multiplyRows(Start start, std::size_t rows, std::size_t depth, Left a,
                                      RightFactor<Left> b, std::size_t b_stride, float* c,
                                      std::size_t c_stride) {
    switch (rows) {
        case 1:
            return multiplyTile<1, W>(start, depth, a, b, b_stride, c, c_stride);
        case 2:
            return multiplyTile<2, W>(start, depth, a, b, b_stride, c, c_stride);
        case 3:
            return multiplyTile<3, W>(start, depth, a, b, b_stride, c, c_stride);
        case 4:
            return multiplyTile<4, W>(start, depth, a, b, b_stride, c, c_stride);
        case 5:
            return multiplyTile<5, W>(start, depth, a, b, b_stride, c, c_stride);
#if HWY_MAX_BYTES >= 64
        case 6:
            return multiplyTile<6, W>(start, depth, a, b, b_stride, c, c_stride);
        case 7:
            return multiplyTile<7, W>(start, depth, a, b, b_stride, c, c_stride);
#endif
        default:
            return multiplyTile<kTileRows, W>(start, depth, a, b, b_stride, c, c_stride);
    }
}

/// C [rows, W vectors] = … + A [rows, depth] · B [depth, W vectors].
/// @param zeros  in row r, the numbers before r + zeros are known to be 0 and skipped
template <std::size_t W, class Start, class Left>
HWY_INLINE HWY_ATTR void multiplyStrip(Start start, std::size_t rows, std::size_t depth, Left a,
                                       RightFactor<Left> b, std::size_t b_stride, float* c,
                                       std::size_t c_stride,
                                       std::ptrdiff_t zeros = -(std::ptrdiff_t{1} << 40)) {
    for (std::size_t r = 0; r < rows;) {
        const std::size_t left = rows - r;
        // Two tiles of medium height are faster than a full one and a thin one.
        const std::size_t tile = left >= 2 * kTileRows ? kTileRows : left > kTileRows ? (left + 1) / 2 : left;
        const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(r) + zeros;
        const std::size_t skipped =
            first > 0 ? std::min(depth, static_cast<std::size_t>(first) / Left::Kind::kDepth) : 0;
        multiplyRows<W>(start, tile, depth - skipped, a.from(r, skipped), b + skipped * b_stride, b_stride,
                        c + r * c_stride, c_stride);
        r += tile;
    }
}

/// C [rows, columns] += A · B for any number of columns that fills whole vectors.
template <class Left>
HWY_INLINE HWY_ATTR void addProduct(std::size_t rows, std::size_t columns, std::size_t depth, Left a,
                                    RightFactor<Left> b, std::size_t b_stride, float* c, std::size_t c_stride,
                                    std::ptrdiff_t zeros) {
    std::size_t at = 0;
    for (; at + kTileVectors * lanes() <= columns; at += kTileVectors * lanes())
        multiplyStrip<kTileVectors>(AccumulateInto{}, rows, depth, a, b + at, b_stride, c + at, c_stride,
                                    zeros);
    if (at < columns)
        multiplyStrip<1>(AccumulateInto{}, rows, depth, a, b + at, b_stride, c + at, c_stride, zeros);
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
