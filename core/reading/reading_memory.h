#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/pretrained/architecture.h"

namespace roper {

/// Minimal memory in bytes, in addition to the parameters, for reading this many tokens in one pass. All of
/// them may take the same expert of a mixture.
double minReadingBytes(const Architecture& model, std::int64_t tokens);

/// Bytes of the largest matrix that a pass decodes as a whole, in float32. Experts of a mixture are decoded
/// one by one, so a text that takes many needs no more at a time.
double largestMatrixBytes(const Architecture& model);

/// Least memory in bytes for reading a text of this many tokens, with the parameters that are decoded at a
/// time. It does not count decoded parameters that are kept to be used again as long as there is room.
inline double leastMemoryToRead(const Architecture& model, std::int64_t tokens) {
    return minReadingBytes(model, tokens) + largestMatrixBytes(model);
}

/// Length in tokens of the text to which stated memory refers where no text is given.
inline constexpr std::int64_t kUsualTokens = 500;

/// Explains, with numbers, why this much memory does not suffice for any text; empty if it may suffice.
/// Guards against files that claim enormous sizes: a sparse file of parameters costs nothing.
std::optional<std::string> modelMemoryProblem(const Architecture& model, double available_bytes);

/// Explains, with numbers and remedies, why a text would not fit into this much memory; empty if it may fit.
std::optional<std::string> readingMemoryProblem(const Architecture& model, std::int64_t tokens,
                                                double available_bytes);

}  // namespace roper
