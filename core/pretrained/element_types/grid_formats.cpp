#include <array>

#include "core/pretrained/element_types/element_format.h"
#include "core/pretrained/element_types/grids.h"

// Super-blocks of 256 numbers: an index selects 4 or 8 of them at once from a grid; signs and scales are
// stored separately. d is the scale of a super-block.

namespace roper {
namespace {

using element_blocks::Byte, element_blocks::kSuperBlock, element_blocks::read, element_blocks::scaleAt;

/// Signs by byte: bit i is set if number i of eight is negative.
constexpr auto kSigns = [] {
    Grid<256, 8> signs{};
    for (std::size_t byte = 0; byte < 256; ++byte)
        for (std::size_t bit = 0; bit < 8; ++bit)
            signs[byte][bit] = (byte >> bit & 1U) == 0 ? 1 : -1;
    return signs;
}();

/// Only seven of eight signs are stored: the product of all is 1.
std::size_t eightSigns(std::uint32_t seven) {
    seven &= 0x7FU;
    return seven | (static_cast<std::uint32_t>(std::popcount(seven) & 1) << 7U);
}

template <std::size_t width>
void decodeSigned(const std::array<std::int8_t, width>& vector, const std::int8_t* signs, float scale,
                  float* out) {
    for (std::size_t j = 0; j < width; ++j)
        out[j] = scale * static_cast<float>(vector[j] * signs[j]);
}

/// Eight numbers from a grid of vectors of eight.
template <class GridOfEight>
void decodeEight(const GridOfEight& grid, std::size_t index, std::size_t signs, float scale, float* out) {
    decodeSigned(grid[index], kSigns[signs].data(), scale, out);
}

/// Eight numbers from a grid of vectors of four.
template <class GridOfFour>
void decodeTwoVectors(const GridOfFour& grid, std::size_t first, std::size_t second, std::size_t signs,
                      float scale, float* out) {
    decodeSigned(grid[first], kSigns[signs].data(), scale, out);
    decodeSigned(grid[second], kSigns[signs].data() + 4, scale, out + 4);
}

std::uint32_t halfByte(const Byte* bytes, std::size_t i) {
    return (bytes[i / 2] >> (i % 2 * 4)) & 0xFU;
}

/// The scale of a part of the super-block, stored in four bits.
float partScale(float d, std::uint32_t scale) {
    return d * (0.5F + static_cast<float>(scale));
}

void decodeIQ2_XXS(const Byte* block, float* out) {
    const auto& grid = gridOfIQ2_XXS();
    const float d = scaleAt(block, 0);
    for (std::size_t part = 0; part < kSuperBlock / 32; ++part) {
        const Byte* const indices = block + 2 + part * 8;
        const auto signs = read<std::uint32_t>(indices + 4);
        const float scale = partScale(d, signs >> 28U) * 0.25F;
        for (std::size_t i = 0; i < 4; ++i)
            decodeEight(grid, indices[i], eightSigns(signs >> (7 * i)), scale, out + part * 32 + i * 8);
    }
}

void decodeIQ2_XS(const Byte* block, float* out) {
    const auto& grid = gridOfIQ2_XS();
    const float d = scaleAt(block, 0);
    for (std::size_t i = 0; i < kSuperBlock / 8; ++i) {
        const std::uint32_t index = read<std::uint16_t>(block + 2 + 2 * i);
        const float scale = partScale(d, halfByte(block + 66, i / 2)) * 0.25F;
        decodeEight(grid, index & 511U, eightSigns(index >> 9U), scale, out + i * 8);
    }
}

void decodeIQ2_S(const Byte* block, float* out) {
    const auto& grid = gridOfIQ2_S();
    const float d = scaleAt(block, 0);
    const Byte *const low = block + 2, *const signs = block + 34, *const high = block + 66;
    for (std::size_t i = 0; i < kSuperBlock / 8; ++i) {
        const std::size_t index = low[i] | (high[i / 4] >> (i % 4 * 2) & 3U) << 8U;
        decodeEight(grid, index, signs[i], partScale(d, halfByte(block + 74, i / 2)) * 0.25F, out + i * 8);
    }
}

void decodeIQ3_XXS(const Byte* block, float* out) {
    const auto& grid = gridOfIQ3_XXS();
    const float d = scaleAt(block, 0);
    for (std::size_t part = 0; part < kSuperBlock / 32; ++part) {
        const Byte* const indices = block + 2 + part * 8;
        const auto signs = read<std::uint32_t>(block + 66 + part * 4);
        const float scale = partScale(d, signs >> 28U) * 0.5F;
        for (std::size_t i = 0; i < 4; ++i)
            decodeTwoVectors(grid, indices[2 * i], indices[2 * i + 1], eightSigns(signs >> (7 * i)), scale,
                             out + part * 32 + i * 8);
    }
}

void decodeIQ3_S(const Byte* block, float* out) {
    const auto& grid = gridOfIQ3_S();
    const float d = scaleAt(block, 0);
    const Byte *const low = block + 2, *const high = block + 66, *const signs = block + 74;
    const auto index = [&](std::size_t i) -> std::size_t {
        return low[i] | (high[i / 8] >> (i % 8) & 1U) << 8U;
    };
    for (std::size_t i = 0; i < kSuperBlock / 8; ++i) {
        const float scale = d * static_cast<float>(1 + 2 * halfByte(block + 106, i / 4));
        decodeTwoVectors(grid, index(2 * i), index(2 * i + 1), signs[i], scale, out + i * 8);
    }
}

/// Eight numbers of the one-bit formats: a vector of −1, 0 and 1, shifted by an eighth up or down.
void decodeWithDelta(const std::array<std::int8_t, 8>& vector, bool down, float scale, float* out) {
    const float delta = down ? -0.125F : 0.125F;
    for (std::size_t j = 0; j < 8; ++j)
        out[j] = scale * (static_cast<float>(vector[j]) + delta);
}

void decodeIQ1_S(const Byte* block, float* out) {
    const auto& grid = gridOfIQ1();
    const float d = scaleAt(block, 0);
    for (std::size_t i = 0; i < kSuperBlock / 8; ++i) {
        const std::uint32_t high = read<std::uint16_t>(block + 34 + i / 4 * 2);
        const std::size_t index = block[2 + i] | (high >> (i % 4 * 3) & 7U) << 8U;
        const float scale = d * static_cast<float>(2 * (high >> 12U & 7U) + 1);
        decodeWithDelta(grid[index], (high & 0x8000U) != 0, scale, out + i * 8);
    }
}

/// The scale of the super-block, whose bits are the highest four of each of the four words of scales.
float spreadScale(const Byte* scales) {
    std::uint32_t half = 0;
    for (std::size_t i = 0; i < 4; ++i)
        half |= (read<std::uint16_t>(scales + 2 * i) & 0xF000U) >> (12 - 4 * i);
    return element_blocks::halfToFloat(static_cast<std::uint16_t>(half));
}

void decodeIQ1_M(const Byte* block, float* out) {
    const auto& grid = gridOfIQ1();
    const Byte* const scales = block + 48;
    const float d = spreadScale(scales);
    for (std::size_t i = 0; i < kSuperBlock / 8; ++i) {
        const std::uint32_t high = halfByte(block + 32, i),
                            of_part = read<std::uint16_t>(scales + i / 8 * 2) >> (i / 2 % 4 * 3) & 7U;
        decodeWithDelta(grid[block[i] | (high & 7U) << 8U], (high & 8U) != 0,
                        d * static_cast<float>(2 * of_part + 1), out + i * 8);
    }
}

constexpr std::array kGridFormats = {
    element_blocks::format<kSuperBlock, 66, decodeIQ2_XXS>(ElementType::IQ2_XXS, "IQ2_XXS", 16),
    element_blocks::format<kSuperBlock, 74, decodeIQ2_XS>(ElementType::IQ2_XS, "IQ2_XS", 17),
    element_blocks::format<kSuperBlock, 82, decodeIQ2_S>(ElementType::IQ2_S, "IQ2_S", 22),
    element_blocks::format<kSuperBlock, 98, decodeIQ3_XXS>(ElementType::IQ3_XXS, "IQ3_XXS", 18),
    element_blocks::format<kSuperBlock, 110, decodeIQ3_S>(ElementType::IQ3_S, "IQ3_S", 21),
    element_blocks::format<kSuperBlock, 50, decodeIQ1_S>(ElementType::IQ1_S, "IQ1_S", 19),
    element_blocks::format<kSuperBlock, 56, decodeIQ1_M>(ElementType::IQ1_M, "IQ1_M", 29),
};

}  // namespace

std::span<const ElementFormat> gridFormats() {
    return kGridFormats;
}

}  // namespace roper
