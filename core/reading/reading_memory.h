#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/pretrained/architecture.h"

namespace roper {

/// Bytes that a model takes at least to read so many tokens in one pass, beside its parameters.
double leastBytesToRead(const Architecture& model, std::int64_t tokens);

/// Bytes of the largest matrix that a pass of this model decodes as a whole, in float32.
double largestMatrixBytes(const Architecture& model);

/// Why no text at all could be read in so much memory, with numbers; nothing if one may. The sizes of a model
/// stand in a file, and its parameters may be a file of nothing.
std::optional<std::string> modelProblem(const Architecture& model, double available_bytes);

/// Why a text would not fit into so much memory, with numbers and what to change; nothing if it may.
std::optional<std::string> readingProblem(const Architecture& model, std::int64_t tokens,
                                          double available_bytes);

}  // namespace roper
