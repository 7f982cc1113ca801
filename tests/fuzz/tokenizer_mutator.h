#pragma once

#include <cstddef>
#include <cstdint>

namespace roper {

/// Changes a tokenizer.json, or generates one, so that its structure stays valid: members come from a grammar
/// of everything that tokenizers contain. Occasionally libFuzzer changes the bytes instead, as for other
/// parsers.
/// @param seed  determines the change
/// @returns the new size, at most `most`
std::size_t mutateTokenizer(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace roper
