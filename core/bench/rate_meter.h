#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <chrono>

#include "core/bench/bench.h"

namespace roper {

/// Samples the arithmetic throughput of a device in one precision.
class RateMeter {
  public:
    /// @param type  bfloat16 is measured as float32 if the device does not multiply it natively
    RateMeter(const at::Device& device, at::ScalarType type);

    void sample();  ///< measures once

    /// Medians of the samples.
    MachineRates rates() const;

  private:
    void sampleGemm();
    void sampleOneDnn();
    void sampleFma();

    at::Device device_;
    at::ScalarType type_;
    at::Tensor a_, b_, c_;
    double flop_ = 0;            ///< floating-point operations of c = a · b
    BenchTimes gemm_, one_dnn_;  ///< the same product by LibTorch and, on CPUs that support it, by oneDNN
    BenchTimes multiply_add_;    ///< seconds per floating-point operation
};

/// Duration of `work` in seconds.
template <class Work>
double secondsOf(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace roper
