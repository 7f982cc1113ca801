#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/operators/rotary_operator.h"

namespace roper {

/// GPU operations captured as a whole (a CUDA graph), which can be replayed.
class CapturedWork {
  public:
    virtual ~CapturedWork() = default;
    virtual void replay() = 0;
};

/// GPUs that compute together, one in each of several processes.
class GpuGroup {
  public:
    virtual ~GpuGroup() = default;

    /// Sums float32 or float64 tensors of the same shape over the processes, in place, with the same result
    /// in each. Complete when it returns.
    /// @throws c10::Error if a process has ended, or does not respond for two minutes
    virtual void allReduce(at::Tensor& numbers) = 0;
};

/// GPU operations that LibTorch's portable ones do not provide. libroper_cuda.so (core/cuda) implements them
/// for CUDA; tests have other implementations. Everything runs on the current stream.
class Gpu {
  public:
    virtual ~Gpu() = default;

    virtual c10::DeviceType deviceType() const = 0;

    /// Such as "NVIDIA H200".
    virtual std::string name() const = 0;

    struct Memory {
        double free = 0, total = 0;  ///< bytes
    };
    virtual Memory memory() const = 0;

    /// Whether it multiplies bfloat16 faster than float32.
    virtual bool multipliesBFloat16() const = 0;

    /// Rotates up to three tensors of the same shape, such as q, k and v, in one launch.
    virtual void rotate(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) = 0;

    /// Captures the operations that `work` launches, without executing them. The memory that `work` reads and
    /// writes must remain in place.
    /// @throws c10::Error if an operation cannot be captured
    virtual std::unique_ptr<CapturedWork> capture(const std::function<void()>& work) = 0;

    /// A globally unique identifier of the GPU, as bytes.
    virtual std::string uuid() const = 0;

    /// Creates the identifier (bytes) of a new group, which its processes pass to `join`.
    virtual std::string createGroupId() const = 0;

    /// Joins this GPU with those of the other processes, which must all call this at the same time.
    /// @param group_id  result of `createGroupId` in one of them
    /// @param rank      of this process, 0 … size − 1
    /// @throws c10::Error if not all have joined within two minutes
    virtual std::unique_ptr<GpuGroup> join(const std::string& group_id, int rank, int size) const = 0;
};

/// The GPU opened by `openDevice`; null if there is none.
Gpu* gpu();

/// Replaces the GPU, or removes it; for `openDevice` and tests.
void useGpu(std::shared_ptr<Gpu> gpu);

/// Type of the function roper_open_gpu of libroper_cuda.so. index: of the CUDA device, from 0.
using OpenGpuFunction = Gpu* (*)(int index);

}  // namespace roper
