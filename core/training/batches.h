#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/runs/specification.h"
#include "core/tasks/task.h"

namespace roper {

/// Sequences `first` … `first + count − 1` of a stream as tokens [count, length] (int64, on the CPU).
at::Tensor makeSequences(const Task& task, const Specification& specification, Stream stream,
                         std::uint64_t first, std::int64_t count);

}  // namespace roper
