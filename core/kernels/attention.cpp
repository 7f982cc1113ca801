#include "core/kernels/attention.h"

#include <array>
#include <stdexcept>
#include <utility>

#include "core/kernels/instruction_sets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/attention_backward-inl.h"
#include "core/kernels/attention_forward-inl.h"
#include "hwy/aligned_allocator.h"
#include "hwy/highway.h"

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(backward);

struct Target {
    const char* name;
    std::int64_t bit;
};
constexpr std::array kTargets = {Target{"AVX-512", HWY_AVX3}, Target{"AVX2", HWY_AVX2},
                                 Target{"SSE4", HWY_SSE4}, Target{"portable", HWY_STATIC_TARGET}};

/// Those that were compiled, less those that this CPU lacks.
std::vector<Target> availableTargets() {
    std::vector<Target> available;
    for (const Target& target : kTargets)
        if ((target.bit & HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET)) != 0)
            available.push_back(target);
    return available;
}

}  // namespace

struct AttentionScratch::Memory {
    hwy::AlignedFreeUniquePtr<float[]> floats;
    std::size_t count = 0;
};

AttentionScratch::AttentionScratch() : memory_(std::make_unique<Memory>()) {}
AttentionScratch::~AttentionScratch() = default;
AttentionScratch::AttentionScratch(AttentionScratch&&) noexcept = default;
AttentionScratch& AttentionScratch::operator=(AttentionScratch&&) noexcept = default;

float* AttentionScratch::room(std::size_t floats) {
    if (memory_->count < floats) {
        memory_->floats.reset();
        memory_->floats = hwy::AllocateAligned<float>(floats);
        if (!memory_->floats) throw std::bad_alloc();
        memory_->count = floats;
    }
    return memory_->floats.get();
}

void attendForward(const AttentionSetup& setup, const float* qkv, float* out, float* log_sums,
                   std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(forward)(setup, qkv, out, log_sums, item, scratch);
}

void attendBackward(const AttentionSetup& setup, const float* qkv, const float* out, const float* log_sums,
                    const float* grad_out, float* grad_qkv, float* grad_bias, std::size_t item,
                    AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(backward)
    (setup, qkv, out, log_sums, grad_out, grad_qkv, grad_bias, item, scratch);
}

std::string kernelTarget() {
    return availableTargets().front().name;
}

std::vector<std::string> kernelTargets() {
    const std::int64_t in_use = hwy::SupportedTargets();
    hwy::SetSupportedTargetsForTest(0);
    std::vector<std::string> names;
    for (const Target& target : availableTargets())
        names.emplace_back(target.name);
    hwy::SetSupportedTargetsForTest(in_use);
    return names;
}

void useKernelTarget(const std::string& name) {
    hwy::SetSupportedTargetsForTest(0);
    if (name.empty()) return;
    for (const Target& target : availableTargets())
        if (target.name == name) return hwy::SetSupportedTargetsForTest(target.bit);
    throw std::invalid_argument("this CPU has no " + name);
}

}  // namespace roper
#endif
