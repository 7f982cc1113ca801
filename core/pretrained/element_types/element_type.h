#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace roper {

/// Storage types of a published model's tensors. Those after the first line are stored in blocks that share a
/// scale (ggml's formats, as in GGUF files); no block crosses the end of a row.
// clang-format off
enum class ElementType {
    F32, F16, BF16, F64, F8_E4M3, F8_E5M2, F8_E8M0, I8, I16, I32, I64, U8, U32,
    Q8_0, Q4_0, Q4_1, Q5_0, Q5_1,
    Q2_K, Q3_K, Q4_K, Q5_K, Q6_K,
    IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S, IQ1_S, IQ1_M,
    TQ1_0, TQ2_0,
    IQ4_NL, IQ4_XS, MXFP4, NVFP4
};
// clang-format on

/// "Q4_1"
std::string nameOf(ElementType type);
/// nullopt if there is none of this name.
std::optional<ElementType> elementTypeNamed(std::string_view name);

/// Elements of one block: 32 for Q4_1, 1 for F32.
std::size_t elementsPerBlock(ElementType type);
/// Whether numbers of this type are indices rather than parameters.
constexpr bool holdsWholeNumbers(ElementType type) {
    return type == ElementType::I64 || type == ElementType::I32;
}
/// Bytes of one block: 20 for Q4_1, 4 for F32.
std::size_t bytesPerBlock(ElementType type);

/// The type with this id in GGUF files; nullopt if it is not supported.
std::optional<ElementType> elementTypeOfGguf(std::uint32_t number);

/// ggml's name of the type with this id, supported or not: "Q8_1"; "type 99" if unknown.
std::string ggufTypeName(std::uint32_t number);

/// Decodes whole blocks to float32.
/// @param blocks  a multiple of `bytesPerBlock` bytes
/// @param out     as many elements as these blocks hold
/// @throws std::invalid_argument if the sizes do not match
void decodeElements(ElementType type, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace roper
