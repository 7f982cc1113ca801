#pragma once

#include <string>
#include <vector>

#include "core/model/gpu.h"

namespace roper {

/// turn.cu, compiled for one GPU.
class TurnKernel {
  public:
    /// @param architecture  "sm_90"
    /// @throws c10::Error saying what NVRTC or the driver said
    explicit TurnKernel(const std::string& architecture);

    /// Turns on the current stream; see `Gpu::turn`.
    void launch(const std::vector<TurnPart>& parts, Pairing pairing, Turn direction) const;

  private:
    const void *float32_ = nullptr, *bfloat16_ = nullptr;  ///< kernels of a library that is never unloaded
};

}  // namespace roper
