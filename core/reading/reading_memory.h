#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/pretrained/architecture.h"

namespace roper {

/// Minimal memory in bytes, in addition to the parameters, for reading this many tokens in one pass. In a
/// mixture of experts, all of them may be routed to the same expert.
double minReadingBytes(const Architecture& model, std::int64_t tokens);

/// Bytes of the largest matrix that a pass decodes as a whole, in float32. Experts of a mixture are decoded
/// one by one, so their number does not matter.
double largestMatrixBytes(const Architecture& model);

/// Least memory in bytes for reading a text of this many tokens, including one decoded matrix at a time. The
/// cache of decoded parameters is not counted, since it only uses memory that is free.
inline double leastMemoryToRead(const Architecture& model, std::int64_t tokens) {
    return minReadingBytes(model, tokens) + largestMatrixBytes(model);
}

/// Length in tokens of the text that is assumed where a model's memory is stated without a text.
inline constexpr std::int64_t kUsualTokens = 500;

/// Explains, with numbers, why this much memory does not suffice for any text; empty if it may suffice.
/// Guards against files that claim enormous sizes: a sparse file of parameters costs nothing.
std::optional<std::string> modelMemoryProblem(const Architecture& model, double available_bytes);

/// Explains, with numbers and remedies, why a text would not fit into this much memory; empty if it may fit.
std::optional<std::string> readingMemoryProblem(const Architecture& model, std::int64_t tokens,
                                                double available_bytes);

}  // namespace roper
