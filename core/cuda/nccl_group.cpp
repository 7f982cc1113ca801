#include "core/cuda/nccl_group.h"

#include <ATen/core/Tensor.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <nccl.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace roper {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kTimeout = 2min;

/// @throws c10::Error for any result other than success or "in progress"
void require(ncclResult_t result, const char* what) {
    TORCH_CHECK(result == ncclSuccess || result == ncclInProgress, "NCCL cannot ", what, ": ",
                ncclGetErrorString(result));
}

/// A non-blocking communicator, so that it can be abandoned if another process is gone.
class NcclGroup final : public GpuGroup {
  public:
    NcclGroup(c10::DeviceIndex index, const ncclUniqueId& id, int rank, int size) : index_(index) {
        const c10::cuda::CUDAGuard guard(index_);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        const ncclResult_t started = ncclCommInitRankConfig(&communicator_, size, id, rank, &config);
        try {
            require(started, "join the processes' GPUs");
            await("join the processes' GPUs", [] { return true; });
        } catch (...) {
            leave();
            throw;
        }
    }

    ~NcclGroup() override { leave(); }
    NcclGroup(const NcclGroup&) = delete;
    NcclGroup& operator=(const NcclGroup&) = delete;

    void allReduce(at::Tensor& numbers) override {
        TORCH_CHECK(numbers.is_contiguous() && numbers.device().index() == index_,
                    "sums over GPUs need contiguous numbers on this process's GPU");
        const bool is_double = numbers.scalar_type() == at::kDouble;
        TORCH_CHECK(is_double || numbers.scalar_type() == at::kFloat,
                    "sums over GPUs support only float32 and float64");
        const c10::cuda::CUDAGuard guard(index_);
        const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(index_);
        constexpr const char* kWhat = "add up the gradients";
        require(ncclAllReduce(numbers.const_data_ptr(), numbers.mutable_data_ptr(),
                              static_cast<std::size_t>(numbers.numel()), is_double ? ncclDouble : ncclFloat,
                              ncclSum, communicator_, stream.stream()),
                kWhat);
        await(kWhat, [] { return true; });  // the operation has been queued on the stream
        at::cuda::CUDAEvent done;
        done.record(stream);
        await(kWhat, [&] { return done.query(); });
    }

  private:
    /// Waits until NCCL has no operation in progress and `is_done` holds. @throws c10::Error
    template <class IsDone>
    void await(const char* what, IsDone is_done) {
        const auto end = Clock::now() + kTimeout;
        while (true) {
            ncclResult_t state = ncclSuccess;
            require(ncclCommGetAsyncError(communicator_, &state), what);
            require(state, what);
            if (state == ncclSuccess && is_done()) return;
            TORCH_CHECK(Clock::now() < end, "NCCL cannot ", what, ": a process does not respond");
            std::this_thread::yield();
        }
    }

    void leave() {
        if (communicator_ != nullptr) ncclCommAbort(communicator_);
        communicator_ = nullptr;
    }

    c10::DeviceIndex index_;
    ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::string createNcclGroupId() {
    ncclUniqueId id;
    require(ncclGetUniqueId(&id), "name a group of GPUs");
    return {id.internal, sizeof id.internal};
}

std::unique_ptr<GpuGroup> joinNcclGroup(c10::DeviceIndex index, const std::string& group, int rank,
                                        int size) {
    ncclUniqueId id;
    TORCH_CHECK(group.size() == sizeof id.internal, "the name of a group of GPUs must have ",
                sizeof id.internal, " bytes, not ", group.size());
    std::memcpy(id.internal, group.data(), group.size());
    return std::make_unique<NcclGroup>(index, id, rank, size);
}

}  // namespace roper
