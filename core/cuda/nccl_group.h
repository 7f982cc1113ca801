#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "core/operators/gpu.h"

namespace roper {

/// See Gpu::createGroupId.
std::string createNcclGroupId();

/// See Gpu::join.
std::unique_ptr<GpuGroup> joinNcclGroup(c10::DeviceIndex index, const std::string& group, int rank, int size);

}  // namespace roper
