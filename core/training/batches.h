#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/specification/specification.h"
#include "core/tasks/task.h"

namespace roper {

/// Sequences `first` … `first + count − 1` of a stream as tokens [count, length] (int64, on the CPU).
at::Tensor makeSequences(const Task& task, const Specification& specification, Stream stream,
                         std::uint64_t first, std::int64_t count);

/// What a model is shown and what it should say, [count, `inputLength`] each (int64, on the CPU). Causal:
/// each token's target is the next. Masked (Devlin et al. 2019): of the tokens to be guessed, drawn from a
/// stream of their own, 80 % are shown as the mask, 10 % as any token, 10 % as they are; the others' targets
/// are `kIgnoreIndex`. At least one token of a sequence is to be guessed.
struct Batch {
    at::Tensor inputs, targets;
};

/// @param stream  training or validation
Batch makeBatch(const Task& task, const Specification& specification, Stream stream, std::uint64_t first,
                std::int64_t count);

/// Tokens that a model knows: the task's and, where it needs one, the mask after them.
std::int64_t modelTokens(const Task& task, const Specification& specification);

}  // namespace roper
