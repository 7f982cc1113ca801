#include "core/kernels/attention.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/attention.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/attention_backward-inl.h"
#include "core/kernels/attention_forward-inl.h"
#include "hwy/aligned_allocator.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {

HWY_ATTR void forwardFloat32(const AttentionArguments& setup, const float* qkv, float* out,
                             float* log_sum_exps, std::size_t item, AttentionScratch& scratch) {
    forward<Float32Format>(setup, qkv, out, log_sum_exps, item, scratch);
}

HWY_ATTR void backwardFloat32(const AttentionArguments& setup, const float* qkv, const float* out,
                              const float* log_sum_exps, const float* grad_out, float* grad_qkv,
                              float* grad_bias, std::size_t item, AttentionScratch& scratch) {
    backward<Float32Format>(setup, qkv, out, log_sum_exps, grad_out, grad_qkv, grad_bias, item, scratch);
}

HWY_ATTR void forwardBFloat16(const AttentionArguments& setup, const BFloat16* qkv, BFloat16* out,
                              float* log_sum_exps, std::size_t item, AttentionScratch& scratch) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
    if (kernelsMultiplyBFloat16())
        return forward<NativeBFloat16Format>(setup, qkv, out, log_sum_exps, item, scratch);
#endif
    forward<BFloat16Format>(setup, qkv, out, log_sum_exps, item, scratch);
}

HWY_ATTR void backwardBFloat16(const AttentionArguments& setup, const BFloat16* qkv, const BFloat16* out,
                               const float* log_sum_exps, const BFloat16* grad_out, BFloat16* grad_qkv,
                               float* grad_bias, std::size_t item, AttentionScratch& scratch) {
#if HWY_ARCH_X86 && HWY_MAX_BYTES >= 64
    if (kernelsMultiplyBFloat16())
        return backward<NativeBFloat16Format>(setup, qkv, out, log_sum_exps, grad_out, grad_qkv, grad_bias,
                                              item, scratch);
#endif
    backward<BFloat16Format>(setup, qkv, out, log_sum_exps, grad_out, grad_qkv, grad_bias, item, scratch);
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(forwardFloat32);
HWY_EXPORT(backwardFloat32);
HWY_EXPORT(forwardBFloat16);
HWY_EXPORT(backwardBFloat16);

/// AVX512-BF16 is not among Highway's instruction sets.
bool cpuMultipliesBFloat16() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

struct Target {
    const char* name;
    std::int64_t bit;       ///< Highway's bit for it
    bool bfloat16 = false;  ///< uses AVX512-BF16
};
constexpr std::array kTargets = {Target{"AVX-512 BF16", HWY_AVX3, true}, Target{"AVX-512", HWY_AVX3},
                                 Target{"AVX2", HWY_AVX2}, Target{"SSE4", HWY_SSE4},
                                 Target{"portable", HWY_STATIC_TARGET}};

/// Set by `selectKernelTarget`.
std::atomic<bool> bfloat16_allowed{true};

/// Whether products use AVX512-BF16; cached, since Highway queries the CPU each time, which in a virtual
/// machine takes longer than the attention of a token.
std::atomic<bool>& usesNativeBFloat16() {
    static std::atomic<bool> does{cpuMultipliesBFloat16() && (hwy::SupportedTargets() & HWY_AVX3) != 0};
    return does;
}

void updateNativeBFloat16() {
    usesNativeBFloat16() =
        cpuMultipliesBFloat16() && bfloat16_allowed && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}

/// Compiled targets that this CPU has and that are allowed.
std::vector<Target> availableTargets() {
    std::vector<Target> available;
    for (const Target& target : kTargets) {
        const bool usable = (target.bit & HWY_TARGETS & (hwy::SupportedTargets() | HWY_STATIC_TARGET)) != 0;
        if (usable && (!target.bfloat16 || (cpuMultipliesBFloat16() && bfloat16_allowed)))
            available.push_back(target);
    }
    return available;
}

/// Restricts the allowed targets to these bits of Highway; 0 allows all again.
void allow(std::int64_t targets, bool bfloat16) {
    hwy::SetSupportedTargetsForTest(targets);
    bfloat16_allowed = bfloat16;
    updateNativeBFloat16();
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

float* AttentionScratch::buffer(std::size_t floats) {
    if (memory_->count < floats) {
        memory_->floats.reset();
        memory_->floats = hwy::AllocateAligned<float>(floats);
        if (!memory_->floats) throw std::bad_alloc();
        memory_->count = floats;
    }
    return memory_->floats.get();
}

void attendForward(const AttentionArguments& setup, const float* qkv, float* out, float* log_sum_exps,
                   std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(forwardFloat32)(setup, qkv, out, log_sum_exps, item, scratch);
}

void attendForward(const AttentionArguments& setup, const BFloat16* qkv, BFloat16* out, float* log_sum_exps,
                   std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(forwardBFloat16)(setup, qkv, out, log_sum_exps, item, scratch);
}

void attendBackward(const AttentionArguments& setup, const float* qkv, const float* out,
                    const float* log_sum_exps, const float* grad_out, float* grad_qkv, float* grad_bias,
                    std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(backwardFloat32)
    (setup, qkv, out, log_sum_exps, grad_out, grad_qkv, grad_bias, item, scratch);
}

void attendBackward(const AttentionArguments& setup, const BFloat16* qkv, const BFloat16* out,
                    const float* log_sum_exps, const BFloat16* grad_out, BFloat16* grad_qkv, float* grad_bias,
                    std::size_t item, AttentionScratch& scratch) {
    HWY_DYNAMIC_DISPATCH(backwardBFloat16)
    (setup, qkv, out, log_sum_exps, grad_out, grad_qkv, grad_bias, item, scratch);
}

bool kernelsMultiplyBFloat16() {
    return usesNativeBFloat16();
}

std::string kernelTarget() {
    return availableTargets().front().name;
}

std::vector<std::string> kernelTargets() {
    const std::int64_t in_use = hwy::SupportedTargets();
    const bool allowed = bfloat16_allowed;
    allow(0, true);
    std::vector<std::string> names;
    for (const Target& target : availableTargets())
        names.emplace_back(target.name);
    allow(in_use, allowed);
    return names;
}

void selectKernelTarget(const std::string& name) {
    allow(0, true);
    if (name.empty()) return;
    for (const Target& target : availableTargets())
        if (target.name == name) return allow(target.bit, target.bfloat16);
    throw std::invalid_argument("this CPU has no " + name);
}

}  // namespace roper
#endif
