#include <array>

#include "core/pretrained/element_types/element_format.h"

namespace roper {
namespace {

using element_blocks::Byte;

/// Numbers of a type that the processor knows, rounded to float32.
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

template <class Number>
constexpr ElementFormat numberFormat(ElementType type, const char* name, std::uint32_t gguf) {
    return element_blocks::format<1, sizeof(Number), decodeNumber<Number>>(type, name, gguf);
}

constexpr std::array kPlainFormats = {
    numberFormat<float>(ElementType::F32, "F32", 0),
    element_blocks::format<1, 2, decodeF16>(ElementType::F16, "F16", 1),
    element_blocks::format<1, 2, decodeBF16>(ElementType::BF16, "BF16", 30),
    numberFormat<double>(ElementType::F64, "F64", 28),
    numberFormat<std::int8_t>(ElementType::I8, "I8", 24),
    numberFormat<std::int16_t>(ElementType::I16, "I16", 25),
    numberFormat<std::int32_t>(ElementType::I32, "I32", 26),
    numberFormat<std::int64_t>(ElementType::I64, "I64", 27),
};

}  // namespace

std::span<const ElementFormat> plainFormats() {
    return kPlainFormats;
}

}  // namespace roper
