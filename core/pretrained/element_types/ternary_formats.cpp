#include <array>

#include "core/pretrained/element_types/element_format.h"

// Super-blocks of 256 numbers −1, 0 and 1 times a scale.

namespace roper {
namespace {

using element_blocks::Byte, element_blocks::kSuperBlock, element_blocks::scaleAt;

/// `digits` ternary digits of each of `width` bytes: the byte is a fraction of 256, whose first digit is the
/// integer part of three times the fraction. Digit k of byte j is number k·width + j.
template <std::size_t width, std::size_t digits>
void decodeTernaryDigits(const Byte* bytes, float d, float* out) {
    unsigned power = 1;
    for (std::size_t k = 0; k < digits; ++k, power *= 3)
        for (std::size_t j = 0; j < width; ++j) {
            const unsigned fraction = (bytes[j] * power) & 0xFF;
            out[k * width + j] = d * static_cast<float>(static_cast<int>((fraction * 3) >> 8) - 1);
        }
}

void decodeTQ1_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 52);
    decodeTernaryDigits<32, 5>(block, d, out);
    decodeTernaryDigits<16, 5>(block + 32, d, out + 160);
    decodeTernaryDigits<4, 4>(block + 48, d, out + 240);
}

void decodeTQ2_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 64);
    for (std::size_t part = 0; part < kSuperBlock / 32; ++part) {
        const Byte* const q = block + part / 4 * 32;
        const std::size_t shift = part % 4 * 2;
        for (std::size_t l = 0; l < 32; ++l)
            out[part * 32 + l] = d * static_cast<float>(((q[l] >> shift) & 3) - 1);
    }
}

constexpr std::array kTernaryFormats = {
    element_blocks::format<kSuperBlock, 54, decodeTQ1_0>(ElementType::TQ1_0, "TQ1_0", 34),
    element_blocks::format<kSuperBlock, 66, decodeTQ2_0>(ElementType::TQ2_0, "TQ2_0", 35),
};

}  // namespace

std::span<const ElementFormat> ternaryFormats() {
    return kTernaryFormats;
}

}  // namespace roper
