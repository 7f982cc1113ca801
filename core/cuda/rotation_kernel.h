#pragma once

#include <string>
#include <vector>

#include "core/operators/gpu.h"

namespace roper {

/// rotation.cu compiled for one GPU.
class RotationKernel {
  public:
    /// @param architecture  such as "sm_90"
    /// @throws c10::Error with the message of NVRTC or the driver
    explicit RotationKernel(const std::string& architecture);

    /// Runs the rotation on the current stream; see `Gpu::rotate`.
    void launch(const std::vector<HeadRotation>& parts, Pairing pairing, Direction direction) const;

  private:
    const void *float32_ = nullptr, *bfloat16_ = nullptr;  ///< kernels of a library that is never unloaded
};

}  // namespace roper
