// Vector operations of kernels: powers of 2, rotations, sums of products, transposed blocks. Included once
// for every instruction set (hwy/foreach_target.h).

#if defined(ROPER_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ROPER_KERNELS_VECTORS_INL_H_
#undef ROPER_KERNELS_VECTORS_INL_H_
#else
#define ROPER_KERNELS_VECTORS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "core/kernels/attention.h"
#include "core/kernels/bfloat16.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The same vector, hidden from the compiler's constant propagation: it stays in a register instead of being
/// loaded from memory at each use.
template <class V>
HWY_INLINE HWY_ATTR V inRegister(V v) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    asm("" : "+v"(v.raw));
#endif
    return v;
}

/// 2^x for x ≤ 0, with a relative error of 3e-7; 2^−126 for smaller results, NaN for NaN.
///
/// x = n + f with f in [−½, ½]: 2^f by the minimax polynomial of degree 5 for the relative error; n is added
/// to its exponent. Adding 1.5 · 2^23 leaves n in the low bits of a float.
template <class F>
class PowerOf2 {
  public:
    HWY_INLINE HWY_ATTR explicit PowerOf2(F f)
        : min_exponent_(constant(f, -126.0F)),
          rounding_(constant(f, 12582912.0F)),
          c5_(constant(f, 1.3276472e-3F)),
          c4_(constant(f, 9.675541e-3F)),
          c3_(constant(f, 5.550713e-2F)),
          c2_(constant(f, 2.402212e-1F)),
          c1_(constant(f, 6.9314694e-1F)),
          c0_(constant(f, 1.0000001F)) {}

    HWY_INLINE HWY_ATTR hn::Vec<F> operator()(hn::Vec<F> x) const {
        const F f;
        const hn::RebindToSigned<F> i;
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
        x = hn::Max(min_exponent_, x);  // x86 propagates NaN with the arguments in this order
#else
        x = hn::IfThenElse(hn::Lt(x, min_exponent_), min_exponent_, x);
#endif
        const auto n = hn::Add(x, rounding_);
        const auto fraction = hn::Sub(x, hn::Sub(n, rounding_));
        auto p = hn::MulAdd(c5_, fraction, c4_);
        p = hn::MulAdd(p, fraction, c3_);
        p = hn::MulAdd(p, fraction, c2_);
        p = hn::MulAdd(p, fraction, c1_);
        p = hn::MulAdd(p, fraction, c0_);
        return hn::BitCast(f, hn::Add(hn::BitCast(i, p), hn::ShiftLeft<23>(hn::BitCast(i, n))));
    }

  private:
    static HWY_INLINE HWY_ATTR hn::Vec<F> constant(F f, float value) {
        return inRegister(hn::Set(f, value));
    }

    hn::Vec<F> min_exponent_, rounding_, c5_, c4_, c3_, c2_, c1_, c0_;
};

/// to = scale · R(±m) from for one vector of d features, with cos mθ and sin mθ in `cosine` and `sine`; sign
/// is +1 or −1. `to` may be `from`.
HWY_INLINE HWY_ATTR void rotateRow(const float* from, float* to, std::size_t d, Pairing pairing,
                                   const float* cosine, const float* sine, std::size_t pairs, float sign,
                                   float scale) {
    const hn::ScalableTag<float> f;
    const std::size_t N = hn::Lanes(f);
    const auto scale_v = hn::Set(f, scale), sign_v = hn::Set(f, sign * scale);
    std::size_t i = 0;
    for (; i + N <= pairs; i += N) {
        const auto c = hn::Mul(hn::LoadU(f, cosine + i), scale_v),
                   s = hn::Mul(hn::LoadU(f, sine + i), sign_v);
        hn::Vec<decltype(f)> x1, x2;
        if (pairing == Pairing::half) {
            x1 = hn::LoadU(f, from + i);
            x2 = hn::LoadU(f, from + pairs + i);
        } else {
            hn::LoadInterleaved2(f, from + 2 * i, x1, x2);
        }
        const auto y1 = hn::NegMulAdd(x2, s, hn::Mul(x1, c)), y2 = hn::MulAdd(x1, s, hn::Mul(x2, c));
        if (pairing == Pairing::half) {
            hn::StoreU(y1, f, to + i);
            hn::StoreU(y2, f, to + pairs + i);
        } else {
            hn::StoreInterleaved2(y1, y2, f, to + 2 * i);
        }
    }
    const std::size_t next = pairing == Pairing::half ? 1 : 2, partner = pairing == Pairing::half ? pairs : 1;
    for (; i < pairs; ++i) {
        const float c = cosine[i] * scale, s = sine[i] * sign * scale;
        const float x1 = from[i * next], x2 = from[i * next + partner];
        to[i * next] = x1 * c - x2 * s;
        to[i * next + partner] = x2 * c + x1 * s;
    }
    for (i = 2 * pairs; i < d; ++i)
        to[i] = scale * from[i];
}

/// Σ_i a_i b_i of two vectors of d features.
HWY_INLINE HWY_ATTR float dot(const float* a, const float* b, std::size_t d) {
    const hn::ScalableTag<float> f;
    const std::size_t N = hn::Lanes(f);
    auto sums = hn::Zero(f);
    std::size_t i = 0;
    for (; i + N <= d; i += N)
        sums = hn::MulAdd(hn::LoadU(f, a + i), hn::LoadU(f, b + i), sums);
    float sum = hn::GetLane(hn::SumOfLanes(f, sums));
    for (; i < d; ++i)
        sum += a[i] * b[i];
    return sum;
}

/// x rounded to bfloat16, in the upper half of each lane; the lower half is undefined. Rounds like
/// `toBFloat16`.
template <class F>
HWY_INLINE HWY_ATTR auto roundedUpperHalves(F, hn::Vec<F> x) {
    const hn::RebindToUnsigned<F> u;
    const auto bits = hn::BitCast(u, x);
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(u, 1));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(u, 0x7FFF)), even);
    return hn::IfThenElse(hn::RebindMask(u, hn::IsNaN(x)), hn::Set(u, 0x7FC00000), rounded);
}

/// Loads a vector of numbers, converted to float32.
template <class F>
HWY_INLINE HWY_ATTR hn::Vec<F> loadNumbers(F f, const float* from) {
    return hn::LoadU(f, from);
}
template <class F>
HWY_INLINE HWY_ATTR hn::Vec<F> loadNumbers(F f, const BFloat16* from) {
    const hn::RebindToUnsigned<F> u;
    const hn::Rebind<std::uint16_t, F> halves;
    const auto bits = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from));
    return hn::BitCast(f, hn::ShiftLeft<16>(hn::PromoteTo(u, bits)));
}

/// Stores a vector of float32 as numbers of either type.
template <class F>
HWY_INLINE HWY_ATTR void storeNumbers(F f, hn::Vec<F> x, float* to) {
    hn::StoreU(x, f, to);
}
template <class F>
HWY_INLINE HWY_ATTR void storeNumbers(F f, hn::Vec<F> x, BFloat16* to) {
    const hn::Rebind<std::uint16_t, F> halves;
    const auto bits = hn::TruncateTo(halves, hn::ShiftRight<16>(roundedUpperHalves(f, x)));
    hn::StoreU(bits, halves, reinterpret_cast<std::uint16_t*>(to));
}

/// The same for a single number.
HWY_INLINE float loadNumber(const float* from) {
    return *from;
}
HWY_INLINE float loadNumber(const BFloat16* from) {
    return toFloat(*from);
}
HWY_INLINE void storeNumber(float x, float* to) {
    *to = x;
}
HWY_INLINE void storeNumber(float x, BFloat16* to) {
    *to = toBFloat16(x);
}

/// to [columns, rows] = from [rows, columns] transposed, for float32 or units of 32 bits; both counts
/// divisible by 4.
/// @param from_stride, to_stride  numbers from row to row
template <class Unit>
HWY_INLINE HWY_ATTR void transpose(const Unit* from, std::size_t from_stride, Unit* to, std::size_t to_stride,
                                   std::size_t rows, std::size_t columns) {
#if HWY_TARGET == HWY_SCALAR
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c)
            to[c * to_stride + r] = from[r * from_stride + c];
#else
    const hn::FixedTag<Unit, 4> f;
    const hn::FixedTag<double, 2> two;
    const auto pairs = [two](auto x) HWY_ATTR { return hn::BitCast(two, x); };
    const auto numbers = [f](auto x) HWY_ATTR { return hn::BitCast(f, x); };
    for (std::size_t r = 0; r < rows; r += 4)
        for (std::size_t c = 0; c < columns; c += 4) {
            const Unit* at = from + r * from_stride + c;
            const auto r0 = hn::LoadU(f, at), r1 = hn::LoadU(f, at + from_stride),
                       r2 = hn::LoadU(f, at + 2 * from_stride), r3 = hn::LoadU(f, at + 3 * from_stride);
            const auto low01 = pairs(hn::InterleaveLower(f, r0, r1)),
                       low23 = pairs(hn::InterleaveLower(f, r2, r3));
            const auto high01 = pairs(hn::InterleaveUpper(f, r0, r1)),
                       high23 = pairs(hn::InterleaveUpper(f, r2, r3));
            Unit* target = to + c * to_stride + r;
            hn::StoreU(numbers(hn::InterleaveLower(two, low01, low23)), f, target);
            hn::StoreU(numbers(hn::InterleaveUpper(two, low01, low23)), f, target + to_stride);
            hn::StoreU(numbers(hn::InterleaveLower(two, high01, high23)), f, target + 2 * to_stride);
            hn::StoreU(numbers(hn::InterleaveUpper(two, high01, high23)), f, target + 3 * to_stride);
        }
#endif
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
