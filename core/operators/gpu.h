#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceType.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/operators/rotation_part.h"

namespace roper {

/// Work that was captured once and is replayed as a whole.
class CapturedWork {
  public:
    virtual ~CapturedWork() = default;
    virtual void replay() = 0;
};

/// GPUs that compute together, one of each of several processes.
class GpuGroup {
  public:
    virtual ~GpuGroup() = default;

    /// Adds up float32 or float64 numbers of the same shape, in place, in every process the same. They are
    /// there when it returns.
    /// @throws c10::Error if a process is gone, or does not answer for two minutes
    virtual void allReduce(at::Tensor& numbers) = 0;
};

/// What LibTorch's portable operations cannot do on a GPU. libroper_cuda.so (core/cuda) implements it for
/// CUDA; tests bring others. Everything happens on the current stream.
class Gpu {
  public:
    virtual ~Gpu() = default;

    virtual c10::DeviceType deviceType() const = 0;

    /// "NVIDIA H200"
    virtual std::string name() const = 0;

    struct Memory {
        double free = 0, total = 0;  ///< bytes
    };
    virtual Memory memory() const = 0;

    /// Whether it multiplies bfloat16 faster than float32.
    virtual bool multipliesBFloat16() const = 0;

    /// Rotates up to three parts of the same sizes in one go.
    virtual void rotate(const std::vector<RotationPart>& parts, Pairing pairing, Direction direction) = 0;

    /// Captures what `work` asks of the GPU, which does not compute any of it yet. The memory that `work`
    /// reads and writes must stay where it is.
    /// @throws c10::Error if something in it cannot be captured
    virtual std::unique_ptr<CapturedWork> capture(const std::function<void()>& work) = 0;

    /// A name that no other GPU has, in this machine or elsewhere.
    virtual std::string uuid() const = 0;

    /// The name of a new group, by which its processes `join`; bytes.
    virtual std::string newGroup() const = 0;

    /// Joins this GPU with those of the other processes, which all do so at the same time.
    /// @param group  what `newGroup` has said in one of them
    /// @param rank   of this one, 0 … size − 1
    /// @throws c10::Error if they do not come together within two minutes
    virtual std::unique_ptr<GpuGroup> join(const std::string& group, int rank, int size) const = 0;
};

/// The GPU that `openDevice` has opened with everything that belongs to it; null if there is none.
Gpu* gpu();

/// Takes another, or none; for `openDevice` and for tests.
void useGpu(std::shared_ptr<Gpu> gpu);

/// What libroper_cuda.so offers under the name roper_open_gpu.
using OpenGpu = Gpu* (*)(int index);

}  // namespace roper
