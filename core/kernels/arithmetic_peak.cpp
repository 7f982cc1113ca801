#include "core/kernels/arithmetic_peak.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/arithmetic_peak.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/products-inl.h"
#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Multiply-adds to registers in independent chains. Kind: format of the factors (products-inl.h).
/// @returns the number of floating-point operations
template <class Kind>
HWY_INLINE HWY_ATTR double multiplyAddChains(std::size_t rounds, typename Kind::Unit factor) {
    // Two execution units with a latency of up to 6 cycles need 12 chains; 16 registers, or 32 with AVX-512.
    constexpr std::size_t kChains = HWY_MAX_BYTES >= 64 ? 24 : 12;
    const Floats f;
    const hn::ScalableTag<typename Kind::Unit> units;
    Vector sums[kChains];
#pragma GCC unroll 24
    for (std::size_t i = 0; i < kChains; ++i)
        sums[i] = inRegister(hn::Set(f, static_cast<float>(i)));
    const auto a = inRegister(hn::Set(units, factor)), b = inRegister(hn::Set(units, factor));
    for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
        for (std::size_t i = 0; i < kChains; ++i)
            sums[i] = inRegister(Kind::multiplyAdd(a, b, sums[i]));
    }
    auto total = sums[0];
    for (std::size_t i = 1; i < kChains; ++i)
        total = hn::Add(total, sums[i]);
    volatile float sink = hn::GetLane(total);
    static_cast<void>(sink);
    return 2.0 * static_cast<double>(rounds * kChains * hn::Lanes(f) * Kind::kDepth);
}

inline HWY_ATTR double multiplyAddsFloat32(std::size_t rounds) {
    return multiplyAddChains<Float32Format>(rounds, 1e-3F);
}

inline HWY_ATTR double multiplyAddsBFloat16(std::size_t rounds) {
    constexpr std::uint32_t kSmall = 0x3A833A83;  // 1e-3 in both halves
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
    return multiplyAddChains<NativeBFloat16Format>(rounds, kSmall);
#else
    return multiplyAddChains<BFloat16Format>(rounds, kSmall);
#endif
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {
HWY_EXPORT(multiplyAddsFloat32);
HWY_EXPORT(multiplyAddsBFloat16);
}  // namespace

double runMultiplyAdds(std::size_t rounds) {
    return HWY_DYNAMIC_DISPATCH(multiplyAddsFloat32)(rounds);
}

double runBFloat16MultiplyAdds(std::size_t rounds) {
    return kernelsMultiplyBFloat16() ? HWY_DYNAMIC_DISPATCH(multiplyAddsBFloat16)(rounds) : 0;
}

}  // namespace roper
#endif
