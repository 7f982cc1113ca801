#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>

#include <optional>

#include "core/cuda/nccl_group.h"
#include "core/cuda/rotation_kernel.h"
#include "core/operators/gpu.h"

namespace roper {
namespace {

class CapturedGraph final : public CapturedWork {
  public:
    CapturedGraph(c10::DeviceIndex index, const std::function<void()>& work)
        : index_(index), pool_(at::cuda::graph_pool_handle()) {
        // The graph has its own memory pool; free memory cached by earlier steps would be wasted.
        c10::cuda::CUDACachingAllocator::emptyCache();
        // Other threads of this process may allocate meanwhile; only this thread is captured.
        graph_.capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
        try {
            work();
            graph_.capture_end();
        } catch (...) {
            abandon();
            throw;
        }
    }

    void replay() override { graph_.replay(); }

  private:
    /// Stream and allocator remain unusable until a capture ends, so this ends it, whatever its state. Errors
    /// are ignored: the capture has already failed, or there is nothing to end.
    void abandon() {
        const auto tryTo = [](const auto& end) {
            try {
                end();
            } catch (const std::exception&) {
            }
        };
        tryTo([this] { graph_.capture_end(); });
        tryTo([this] { c10::cuda::CUDACachingAllocator::endAllocateToPool(index_, pool_); });
    }

    c10::DeviceIndex index_;
    at::cuda::MempoolId_t pool_;
    at::cuda::CUDAGraph graph_;
};

class CudaGpu final : public Gpu {
  public:
    explicit CudaGpu(c10::DeviceIndex index) : index_(index) {
        const c10::cuda::CUDAGuard guard(index);
        C10_CUDA_CHECK(cudaGetDeviceProperties(&properties_, index));
        kernel_.emplace("sm_" + std::to_string(properties_.major) + std::to_string(properties_.minor));
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

    void rotate(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) override {
        const c10::cuda::CUDAGuard guard(index_);
        kernel_->launch(parts, pairing, direction);
    }

    std::unique_ptr<CapturedWork> capture(const std::function<void()>& work) override {
        return std::make_unique<CapturedGraph>(index_, work);
    }

    std::string uuid() const override { return {properties_.uuid.bytes, sizeof properties_.uuid.bytes}; }

    std::string createGroupId() const override { return createNcclGroupId(); }

    std::unique_ptr<GpuGroup> join(const std::string& group_id, int rank, int size) const override {
        return joinNcclGroup(index_, group_id, rank, size);
    }

  private:
    c10::DeviceIndex index_;
    cudaDeviceProp properties_{};
    std::optional<RotationKernel> kernel_;
};

}  // namespace
}  // namespace roper

extern "C" __attribute__((visibility("default"))) roper::Gpu* roper_open_gpu(int index) {
    return new roper::CudaGpu(static_cast<c10::DeviceIndex>(index));
}
