#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace roper {

/// Storage types of a published model's tensors. Types with a Q are stored in blocks that share a scale
/// (ggml's formats, as in GGUF files); no block crosses the end of a row.
enum class ElementType { F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K };

/// "Q4_1"
std::string nameOf(ElementType type);

/// Elements of one block and its bytes: 32 and 20 for Q4_1, 1 and 4 for F32.
std::size_t elementsPerBlock(ElementType type);
std::size_t bytesPerBlock(ElementType type);

/// The type with this number in GGUF files; nothing if it is not supported.
std::optional<ElementType> elementTypeOfGguf(std::uint32_t number);

/// ggml's name of the type with this number, supported or not: "Q3_K"; "type 99" if unknown.
std::string ggufTypeName(std::uint32_t number);

/// Decodes whole blocks to float32.
/// @param blocks  a multiple of `bytesPerBlock` bytes
/// @param out     as many elements as these blocks hold
/// @throws std::invalid_argument if the sizes do not match
void decodeElements(ElementType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace roper
