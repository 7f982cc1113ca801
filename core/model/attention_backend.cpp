#include "core/model/attention_backend.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace roper {
namespace {

struct Implementation {
    at::SDPBackend backend;
    const char* name;
    void (at::Context::*allow)(bool);
    bool (at::Context::*isAllowed)() const;
};
constexpr Implementation kImplementations[] = {
    {at::SDPBackend::flash_attention, "flash", &at::Context::setSDPUseFlash,
     &at::Context::userEnabledFlashSDP},
    {at::SDPBackend::efficient_attention, "memory-efficient", &at::Context::setSDPUseMemEfficient,
     &at::Context::userEnabledMemEfficientSDP},
    {at::SDPBackend::cudnn_attention, "cuDNN", &at::Context::setSDPUseCuDNN,
     &at::Context::userEnabledCuDNNSDP},
    {at::SDPBackend::math, "math", &at::Context::setSDPUseMath, &at::Context::userEnabledMathSDP}};

/// During its lifetime only one implementation is allowed, and LibTorch's warnings about unusable ones are
/// suppressed.
class Only final : c10::WarningHandler {
  public:
    explicit Only(const Implementation& allowed) : quiet_(this) {
        for (const Implementation& other : kImplementations) {
            before_.push_back((at::globalContext().*other.isAllowed)());
            (at::globalContext().*other.allow)(other.backend == allowed.backend);
        }
    }
    ~Only() override {
        for (std::size_t i = 0; i < before_.size(); ++i)
            (at::globalContext().*kImplementations[i].allow)(before_[i]);
    }
    Only(const Only&) = delete;
    Only& operator=(const Only&) = delete;

    void process(const c10::Warning&) override {}

  private:
    c10::WarningUtils::WarningHandlerGuard quiet_;
    std::vector<bool> before_;
};

/// Milliseconds of forward and backward, the minimum over some rounds; empty if the allowed implementation
/// does not support the shape.
std::optional<double> measure(const AttentionShape& shape) {
    // A GPU loads each kernel at its first call; the kernel that adds to an existing gradient is first used
    // in the second pass.
    constexpr int kWarmupSteps = 3, kRounds = 3, kTimes = 5;
    const at::AutoGradMode with_gradients(true);
    const auto random = [&] {
        const at::TensorOptions options = at::TensorOptions(shape.device).dtype(shape.type);
        return at::randn({shape.B, shape.T, shape.H, shape.d}, options).transpose(1, 2).requires_grad_(true);
    };
    try {
        const at::Tensor q = random(), k = random(), v = random();
        const at::Tensor gradient = at::randn_like(q.detach());
        std::optional<at::Tensor> mask;  // not every implementation supports its gradient
        if (shape.mask.defined())
            mask = shape.mask.detach().to(shape.type).requires_grad_(shape.mask.requires_grad());
        const auto forwardAndBackward = [&] {
            at::scaled_dot_product_attention(q, k, v, mask, 0.0, shape.causal && !mask).backward(gradient);
        };
        const auto finish = [&] { q.grad().flatten()[0].item<float>(); };
        const auto measureRound = [&](int times) {
            const auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < times; ++i)
                forwardAndBackward();
            finish();
            const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
            return spent.count() / times;
        };
        measureRound(kWarmupSteps);
        double least = measureRound(kTimes);
        for (int round = 1; round < kRounds; ++round)
            least = std::min(least, measureRound(kTimes));
        return least;
    } catch (const c10::Error&) {
        return std::nullopt;  // "No available kernel", or not enough memory for T × T
    }
}

}  // namespace

std::string selectAttentionBackend(const AttentionShape& shape) {
    std::vector<std::pair<double, const Implementation*>> measured;
    for (const Implementation& implementation : kImplementations) {
        const Only only(implementation);
        if (const auto time = measure(shape)) measured.emplace_back(*time, &implementation);
    }
    TORCH_CHECK(!measured.empty(), "no attention implementation of LibTorch supports ", shape.T,
                " tokens with heads of ", shape.d);
    std::sort(measured.begin(), measured.end());
    std::vector<std::int64_t> order;
    std::string times;
    for (const auto& [time, implementation] : measured) {
        order.push_back(static_cast<std::int64_t>(implementation->backend));
        times += (times.empty() ? "" : ", ") + std::string(implementation->name) + " " +
                 formatRounded(time, 3) + " ms";
    }
    // Those that do not support this shape may support others.
    for (const Implementation& implementation : kImplementations) {
        const auto backend = static_cast<std::int64_t>(implementation.backend);
        if (std::find(order.begin(), order.end(), backend) == order.end()) order.push_back(backend);
    }
    // LibTorch requires all of them
    order.push_back(static_cast<std::int64_t>(at::SDPBackend::overrideable));
    at::globalContext().setSDPPriorityOrder(order);
    return std::string("attention by LibTorch's ") + measured.front().second->name + " (" + times + ")";
}

}  // namespace roper
