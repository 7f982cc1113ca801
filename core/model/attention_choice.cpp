#include "core/model/attention_choice.h"

#include <ATen/ATen.h>

#include <chrono>
#include <limits>
#include <optional>

#include "core/runs/text.h"

namespace roper {
namespace {

struct Implementation {
    const char* name;
    void (at::Context::*enable)(bool);
};
constexpr Implementation kImplementations[] = {{"flash", &at::Context::setSDPUseFlash},
                                               {"memory-efficient", &at::Context::setSDPUseMemEfficient},
                                               {"cuDNN", &at::Context::setSDPUseCuDNN},
                                               {"math", &at::Context::setSDPUseMath}};

void allow(const char* name, bool math_too) {
    for (const Implementation& implementation : kImplementations) {
        const std::string other = implementation.name;
        (at::globalContext().*implementation.enable)(other == name || (math_too && other == "math"));
    }
}

/// Milliseconds there and back; nothing if what is allowed cannot do it.
std::optional<double> measure(const AttentionShape& shape) {
    constexpr int kTimes = 5;
    const auto random = [&] {
        const at::TensorOptions options = at::TensorOptions(shape.device).dtype(shape.type);
        return at::randn({shape.B, shape.T, shape.H, shape.d}, options).transpose(1, 2).requires_grad_(true);
    };
    try {
        const at::Tensor q = random(), k = random(), v = random();
        const at::Tensor gradient = at::randn_like(q.detach());
        const auto mask = shape.mask.defined() ? std::optional(shape.mask.to(shape.type)) : std::nullopt;
        const auto thereAndBack = [&] {
            at::scaled_dot_product_attention(q, k, v, mask, 0.0, shape.causal && !mask).backward(gradient);
        };
        const auto finish = [&] { q.grad().flatten()[0].item<float>(); };
        thereAndBack();
        finish();
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < kTimes; ++i)
            thereAndBack();
        finish();
        const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
        return spent.count() / kTimes;
    } catch (const c10::Error&) {
        return std::nullopt;  // "No available kernel", or not enough memory for T × T
    }
}

}  // namespace

std::string chooseAttention(const AttentionShape& shape) {
    const char* best = "math";
    double least = std::numeric_limits<double>::infinity();
    std::string measured;
    for (const Implementation& implementation : kImplementations) {
        allow(implementation.name, /*math_too=*/false);
        const std::optional<double> time = measure(shape);
        if (!time) continue;
        measured += (measured.empty() ? "" : ", ") + std::string(implementation.name) + " " +
                    formatRounded(*time, 3) + " ms";
        if (*time >= least) continue;
        least = *time;
        best = implementation.name;
    }
    allow(best, /*math_too=*/true);
    return std::string("attention by LibTorch's ") + best + " (" + measured + ")";
}

}  // namespace roper
