#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace roper {

/// How the numbers of a published model's tensor are stored. Those with a Q come in blocks that share a scale
/// (ggml's formats, as a GGUF file holds them); a block never reaches over the end of a row.
enum class ElementType { F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K };

/// "Q4_1"
std::string nameOf(ElementType type);

/// Numbers of one block, and the bytes that it takes: 32 and 20 for Q4_1, 1 and 4 for F32.
std::size_t elementsPerBlock(ElementType type);
std::size_t bytesPerBlock(ElementType type);

/// The type that a GGUF file means by a number; nothing for one that is not read here.
std::optional<ElementType> elementTypeOfGguf(std::uint32_t number);

/// What ggml calls the type of a number, also one that is not read here: "Q3_K"; "type 99" for an unknown
/// one.
std::string ggufTypeName(std::uint32_t number);

/// Whole blocks as float32.
/// @param blocks  a multiple of `bytesPerBlock`
/// @param out     as many numbers as these blocks hold
/// @throws std::invalid_argument if the sizes do not fit
void decodeElements(ElementType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace roper
