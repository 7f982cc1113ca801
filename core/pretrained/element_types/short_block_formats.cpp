#include <array>

#include "core/pretrained/element_types/element_format.h"

// Blocks of 32 numbers with a scale d, and in formats ending in _1 also a minimum, `least`.

namespace roper {
namespace {

using element_blocks::Byte, element_blocks::kBlock, element_blocks::read, element_blocks::scaleAt;
constexpr std::size_t kHalfBlock = kBlock / 2;

void decodeQ8_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    for (std::size_t j = 0; j < kBlock; ++j)
        out[j] = d * static_cast<float>(read<std::int8_t>(block + 2 + j));
}

void decodeQ4_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    const Byte* const q = block + 2;
    for (std::size_t j = 0; j < kHalfBlock; ++j) {
        out[j] = d * static_cast<float>((q[j] & 0xF) - 8);
        out[j + kHalfBlock] = d * static_cast<float>((q[j] >> 4) - 8);
    }
}

void decodeQ4_1(const Byte* block, float* out) {
    const float d = scaleAt(block, 0), least = scaleAt(block, 2);
    const Byte* const q = block + 4;
    for (std::size_t j = 0; j < kHalfBlock; ++j) {
        out[j] = d * static_cast<float>(q[j] & 0xF) + least;
        out[j + kHalfBlock] = d * static_cast<float>(q[j] >> 4) + least;
    }
}

/// Number `j` of 32: four bits in `q` and the fifth in `high`.
int fiveBits(const Byte* q, std::uint32_t high, std::size_t j) {
    const int low = j < kHalfBlock ? q[j] & 0xF : q[j - kHalfBlock] >> 4;
    return low | static_cast<int>(((high >> j) & 1U) << 4U);
}

void decodeQ5_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    const auto high = read<std::uint32_t>(block + 2);
    for (std::size_t j = 0; j < kBlock; ++j)
        out[j] = d * static_cast<float>(fiveBits(block + 6, high, j) - 16);
}

void decodeQ5_1(const Byte* block, float* out) {
    const float d = scaleAt(block, 0), least = scaleAt(block, 2);
    const auto high = read<std::uint32_t>(block + 4);
    for (std::size_t j = 0; j < kBlock; ++j)
        out[j] = d * static_cast<float>(fiveBits(block + 8, high, j)) + least;
}

constexpr std::array kShortBlockFormats = {
    element_blocks::format<kBlock, 34, decodeQ8_0>(ElementType::Q8_0, "Q8_0", 8),
    element_blocks::format<kBlock, 18, decodeQ4_0>(ElementType::Q4_0, "Q4_0", 2),
    element_blocks::format<kBlock, 20, decodeQ4_1>(ElementType::Q4_1, "Q4_1", 3),
    element_blocks::format<kBlock, 22, decodeQ5_0>(ElementType::Q5_0, "Q5_0", 6),
    element_blocks::format<kBlock, 24, decodeQ5_1>(ElementType::Q5_1, "Q5_1", 7),
};

}  // namespace

std::span<const ElementFormat> shortBlockFormats() {
    return kShortBlockFormats;
}

}  // namespace roper
