#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/specification/specification.h"
#include "core/tasks/task.h"

namespace roper {

/// Sequences `first` … `first + count − 1` of a stream as tokens [count, length] (int64, on the CPU).
at::Tensor makeSequences(const Task& task, const Specification& specification, Stream stream,
                         std::uint64_t first, std::int64_t count);

/// Inputs of a model and their targets, [count, `inputLength`] each (int64, on the CPU). Causal: each token's
/// target is the next token. Masked (Devlin et al. 2019): of the tokens selected at random for prediction,
/// the mask replaces 80 %, a random token 10 %, and 10 % stay; all other targets are `kIgnoreIndex`. At least
/// one token per sequence is selected.
struct Batch {
    at::Tensor inputs, targets;
};

/// @param stream  training or validation
Batch makeBatch(const Task& task, const Specification& specification, Stream stream, std::uint64_t first,
                std::int64_t count);

/// Size of a model's vocabulary: the task's tokens and, for masked prediction, the mask token after them.
std::int64_t modelVocabularySize(const Task& task, const Specification& specification);

}  // namespace roper
