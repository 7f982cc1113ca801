#include "core/bench/rate_meter.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <atomic>

#include "core/kernels/arithmetic_peak.h"
#include "core/model/device.h"
#include "core/operators/products.h"

namespace roper {

RateMeter::RateMeter(const at::Device& device, at::ScalarType type)
    : device_(device),
      type_(type == at::kBFloat16 && multipliesBFloat16(device) ? at::kBFloat16 : at::kFloat) {}

void RateMeter::sample() {
    sampleGemm();
    if (device_.is_cpu() && reasonWithoutOneDnn().empty()) sampleOneDnn();
    if (device_.is_cpu()) sampleFma();
}

MachineRates RateMeter::rates() const {
    const double seconds =
        one_dnn_.seconds.empty() ? gemm_.median() : std::min(gemm_.median(), one_dnn_.median());
    return {flop_ / seconds, device_.is_cpu() ? 1 / multiply_add_.median() : 0};
}

void RateMeter::sampleGemm() {
    const std::int64_t size = device_.is_cpu() ? 2048 : 8192, times = device_.is_cpu() ? 1 : 10;
    const at::NoGradGuard no_gradients;
    const auto synchronize = [&] { c_[0][0].item<float>(); };
    if (!a_.defined()) {
        const at::TensorOptions options = at::TensorOptions(device_).dtype(type_);
        a_ = at::randn({size, size}, options);
        b_ = at::randn({size, size}, options);
        c_ = at::mm(a_, b_);
    }
    synchronize();
    const double seconds = secondsOf([&] {
        for (std::int64_t i = 0; i < times; ++i)
            at::mm_out(c_, a_, b_);
        synchronize();
    });
    gemm_.seconds.push_back(seconds / static_cast<double>(times));
    const auto n = static_cast<double>(size);
    flop_ = 2 * n * n * n;
}

void RateMeter::sampleOneDnn() {
    if (one_dnn_.seconds.empty()) multiplyInto(c_, a_, b_);  // the first call prepares the product
    one_dnn_.seconds.push_back(secondsOf([&] { multiplyInto(c_, a_, b_); }));
}

void RateMeter::sampleFma() {
    constexpr std::size_t kRounds = 2000000;
    std::atomic<double> done{0};
    const double seconds = secondsOf([&] {
        at::parallel_for(0, at::get_num_threads(), 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t thread = begin; thread < end; ++thread)
                done += type_ == at::kBFloat16 ? runBFloat16MultiplyAdds(kRounds) : runMultiplyAdds(kRounds);
        });
    });
    multiply_add_.seconds.push_back(seconds / done);
}

}  // namespace roper
