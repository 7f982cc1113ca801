#pragma once

#include <cstddef>
#include <cstdint>

namespace roper {

/// Changes a tokenizer.json, or makes one, so that it stays one in form: its members come from a grammar of
/// all that tokenizers have. Now and then libFuzzer changes the bytes instead, as it does for other parsers.
/// @param seed  the same seed changes the same bytes in the same way
/// @returns the new size, at most `most`
std::size_t mutateTokenizer(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace roper
