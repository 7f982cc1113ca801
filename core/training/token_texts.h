#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "core/tasks/vocabulary.h"

namespace roper {

/// The texts of tokens [N] (int64, on the CPU) as a JSON list, for readers that do not know the vocabulary.
/// Bytes that are no text by themselves, such as half a letter, become U+FFFD.
std::string textsOf(const Vocabulary& vocabulary, const at::Tensor& tokens);

}  // namespace roper
