#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>

#include "core/cuda/turn_kernel.h"
#include "core/model/gpu.h"

namespace roper {
namespace {

class RecordedGraph final : public RecordedWork {
  public:
    explicit RecordedGraph(const std::function<void()>& work) {
        // Other threads of this process may go on allocating; only what this one does is watched.
        graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        try {
            work();
        } catch (...) {
            abandon();
            throw;
        }
        graph_.capture_end();
    }

    void repeat() override { graph_.replay(); }

  private:
    /// A stream stays unusable until its capture ends, whatever came of it.
    void abandon() {
        try {
            graph_.capture_end();
        } catch (const std::exception&) {
            // What went wrong in `work` is what counts.
        }
    }

    at::cuda::CUDAGraph graph_;
};

class CudaGpu final : public Gpu {
  public:
    explicit CudaGpu(c10::DeviceIndex index) : index_(index) {
        C10_CUDA_CHECK(cudaGetDeviceProperties(&properties_, index));
    }

    c10::DeviceType deviceType() const override { return c10::kCUDA; }

    std::string name() const override { return properties_.name; }

    Memory memory() const override {
        const c10::cuda::CUDAGuard guard(index_);
        std::size_t free = 0, total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        return {static_cast<double>(free), static_cast<double>(total)};
    }

    bool multipliesBFloat16() const override { return properties_.major >= 8; }

    void turn(const std::vector<TurnPart>& parts, Pairing pairing, Turn direction) override {
        const c10::cuda::CUDAGuard guard(index_);
        if (!kernel_)
            kernel_.emplace("sm_" + std::to_string(properties_.major) + std::to_string(properties_.minor));
        kernel_->launch(parts, pairing, direction);
    }

    std::unique_ptr<RecordedWork> record(const std::function<void()>& work) override {
        return std::make_unique<RecordedGraph>(work);
    }

  private:
    c10::DeviceIndex index_;
    cudaDeviceProp properties_{};
    std::optional<TurnKernel> kernel_;
};

}  // namespace
}  // namespace roper

extern "C" __attribute__((visibility("default"))) roper::Gpu* roper_open_gpu(int index) {
    return new roper::CudaGpu(static_cast<c10::DeviceIndex>(index));
}
