#include "core/kernels/arithmetic_peak.h"

#include "core/kernels/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/arithmetic_peak.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

inline HWY_ATTR double multiplyAddsHere(std::size_t rounds) {
    constexpr std::size_t kChains = 10;  // of latency 4 or 5 on two units
    const hn::ScalableTag<float> f;
    hn::Vec<decltype(f)> sums[kChains];
#pragma GCC unroll 10
    for (std::size_t i = 0; i < kChains; ++i)
        sums[i] = inRegister(hn::Set(f, static_cast<float>(i)));
    const auto factor = inRegister(hn::Set(f, 0.999F)), summand = inRegister(hn::Set(f, 1e-3F));
    for (std::size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
        for (std::size_t i = 0; i < kChains; ++i)
            sums[i] = inRegister(hn::MulAdd(sums[i], factor, summand));
    }
    auto total = sums[0];
    for (std::size_t i = 1; i < kChains; ++i)
        total = hn::Add(total, sums[i]);
    volatile float kept = hn::GetLane(total);
    static_cast<void>(kept);
    return 2.0 * static_cast<double>(rounds * kChains * hn::Lanes(f));
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {
HWY_EXPORT(multiplyAddsHere);
}  // namespace

double multiplyAdds(std::size_t rounds) {
    return HWY_DYNAMIC_DISPATCH(multiplyAddsHere)(rounds);
}

}  // namespace roper
#endif
