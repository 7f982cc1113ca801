#include <array>

#include "core/pretrained/element_types/element_format.h"

namespace roper {
namespace {

using element_blocks::Byte;

/// Numbers of a native type, converted to float32.
template <class Number>
void decodeNumber(const Byte* from, float* out) {
    *out = static_cast<float>(element_blocks::read<Number>(from));
}

void decodeF16(const Byte* from, float* out) {
    *out = element_blocks::scaleAt(from, 0);
}

void decodeBF16(const Byte* from, float* out) {
    *out = std::bit_cast<float>(static_cast<std::uint32_t>(element_blocks::read<std::uint16_t>(from)) << 16U);
}

/// The upper byte of a float16.
void decodeF8_E5M2(const Byte* from, float* out) {
    *out = element_blocks::halfToFloat(static_cast<std::uint16_t>(from[0] << 8U));
}

/// E4M3FN: bias 7, no infinity; 0x7F and 0xFF are NaN.
void decodeF8_E4M3(const Byte* from, float* out) {
    const std::uint32_t sign = (from[0] & 0x80U) << 24U, size = from[0] & 0x7FU;
    // Like a float16 with one exponent bit less: scaled by 2⁸.
    const float number = element_blocks::halfToFloat(static_cast<std::uint16_t>(size << 7U)) * 0x1p8F;
    const std::uint32_t nan = static_cast<std::uint32_t>(size == 0x7FU) * 0x7FC00000U;
    *out = std::bit_cast<float>(sign | nan | std::bit_cast<std::uint32_t>(number));
}

/// A power of two; 0xFF is NaN.
void decodeF8_E8M0(const Byte* from, float* out) {
    const std::uint32_t exponent = from[0];
    *out = std::bit_cast<float>(exponent == 0      ? 0x00400000U
                                : exponent == 0xFF ? 0x7FC00000U
                                                   : exponent << 23U);
}

template <class Number>
constexpr ElementFormat numberFormat(ElementType type, const char* name, std::optional<std::uint32_t> gguf) {
    return element_blocks::format<1, sizeof(Number), decodeNumber<Number>>(type, name, gguf);
}

constexpr std::array kPlainFormats = {
    numberFormat<float>(ElementType::F32, "F32", 0),
    element_blocks::format<1, 2, decodeF16>(ElementType::F16, "F16", 1),
    element_blocks::format<1, 2, decodeBF16>(ElementType::BF16, "BF16", 30),
    numberFormat<double>(ElementType::F64, "F64", 28),
    element_blocks::format<1, 1, decodeF8_E4M3>(ElementType::F8_E4M3, "F8_E4M3", std::nullopt),
    element_blocks::format<1, 1, decodeF8_E5M2>(ElementType::F8_E5M2, "F8_E5M2", std::nullopt),
    element_blocks::format<1, 1, decodeF8_E8M0>(ElementType::F8_E8M0, "F8_E8M0", std::nullopt),
    numberFormat<std::int8_t>(ElementType::I8, "I8", 24),
    numberFormat<std::int16_t>(ElementType::I16, "I16", 25),
    numberFormat<std::int32_t>(ElementType::I32, "I32", 26),
    numberFormat<std::int64_t>(ElementType::I64, "I64", 27),
    numberFormat<std::uint8_t>(ElementType::U8, "U8", std::nullopt),
    numberFormat<std::uint32_t>(ElementType::U32, "U32", std::nullopt),
};

}  // namespace

std::span<const ElementFormat> plainFormats() {
    return kPlainFormats;
}

}  // namespace roper
