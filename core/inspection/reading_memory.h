#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/pretrained/architecture.h"

namespace roper {

/// Bytes that a model takes at least to read so many tokens in one pass, beside its parameters.
double leastBytesToRead(const Architecture& model, std::int64_t tokens);

/// Why a text would not fit into so much memory, with numbers and what to change; nothing if it may.
std::optional<std::string> readingProblem(const Architecture& model, std::int64_t tokens,
                                          double available_bytes);

}  // namespace roper
