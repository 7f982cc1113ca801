#include <array>

#include "core/pretrained/element_types/element_format.h"

// Super-blocks of 256 numbers in parts of 16 or 32. Each part has a scale, and in some formats a minimum, of
// a few bits, relative to those of the super-block, d and `least`.

namespace roper {
namespace {

using element_blocks::Byte, element_blocks::kSuperBlock, element_blocks::read, element_blocks::scaleAt;
constexpr std::size_t kLongPart = 32, kShortPart = 16;

/// Numbers of two bits: each half of the super-block is stored in 32 bytes. Byte l holds number l of the four
/// parts of 32, from bits 0, 2, 4 and 6 on.
const Byte* twoBitsOf(const Byte* q, std::size_t long_part) {
    return q + long_part / 4 * kLongPart;
}

void decodeQ2_K(const Byte* block, float* out) {
    const float d = scaleAt(block, 80), least = scaleAt(block, 82);
    for (std::size_t part = 0; part < kSuperBlock / kShortPart; ++part) {
        const float scale = d * static_cast<float>(block[part] & 0xF),
                    minimum = least * static_cast<float>(block[part] >> 4);
        const Byte* const q = twoBitsOf(block + 16, part / 2) + part % 2 * kShortPart;
        const std::size_t shift = part / 2 % 4 * 2;
        for (std::size_t l = 0; l < kShortPart; ++l)
            out[part * kShortPart + l] = scale * static_cast<float>((q[l] >> shift) & 3) - minimum;
    }
}

/// Scale of one of 16 parts: four low bits in bytes 0 to 7, two high bits in bytes 8 to 11.
int sixBitScale(const Byte* packed, std::size_t part) {
    const int low = (packed[part % 8] >> (part / 8 * 4)) & 0xF,
              high = (packed[8 + part % 4] >> (part / 4 * 2)) & 3;
    return (low | (high << 4)) - 32;
}

void decodeQ3_K(const Byte* block, float* out) {
    const float d = scaleAt(block, 108);
    for (std::size_t part = 0; part < kSuperBlock / kShortPart; ++part) {
        const float scale = d * static_cast<float>(sixBitScale(block + 96, part));
        const Byte* const q = twoBitsOf(block + 32, part / 2) + part % 2 * kShortPart;
        const Byte* const high = block + part % 2 * kShortPart;
        const std::size_t shift = part / 2 % 4 * 2, high_shift = part / 2;
        for (std::size_t l = 0; l < kShortPart; ++l) {
            const int number = ((q[l] >> shift) & 3) | (((high[l] >> high_shift) & 1) << 2);
            out[part * kShortPart + l] = scale * static_cast<float>(number - 4);
        }
    }
}

/// Scale and minimum of the eight parts of a super-block: six bits each, packed into twelve bytes.
struct ScaleAndMinimum {
    int scale, minimum;
};
ScaleAndMinimum partOf(const Byte* packed, std::size_t part) {
    if (part < 4) return {packed[part] & 63, packed[part + 4] & 63};
    return {(packed[part + 4] & 0xF) | ((packed[part - 4] >> 6) << 4),
            (packed[part + 4] >> 4) | ((packed[part] >> 6) << 4)};
}

/// Q4_K, and Q5_K with the fifth bit of each number in `high` (null for Q4_K).
void decodeK45(const Byte* block, const Byte* high, const Byte* q, float* out) {
    const float d = scaleAt(block, 0), least = scaleAt(block, 2);
    for (std::size_t part = 0; part < kSuperBlock / kLongPart; ++part) {
        const ScaleAndMinimum packed = partOf(block + 4, part);
        const float scale = d * static_cast<float>(packed.scale),
                    minimum = least * static_cast<float>(packed.minimum);
        const Byte* const from = q + (part / 2) * kLongPart;
        const std::size_t shift = part % 2 * 4;
        for (std::size_t l = 0; l < kLongPart; ++l) {
            int number = (from[l] >> shift) & 0xF;
            if (high != nullptr) number |= ((high[l] >> part) & 1) << 4;
            out[part * kLongPart + l] = scale * static_cast<float>(number) - minimum;
        }
    }
}

void decodeQ4_K(const Byte* block, float* out) {
    decodeK45(block, nullptr, block + 16, out);
}

void decodeQ5_K(const Byte* block, float* out) {
    decodeK45(block, block + 16, block + 48, out);
}

void decodeQ6_K(const Byte* block, float* out) {
    const float d = scaleAt(block, 208);
    for (std::size_t part = 0; part < kSuperBlock / kShortPart; ++part) {
        const std::size_t half = part / 8, quarter = part / 2 % 4, begin = part % 2 * kShortPart;
        const Byte *const low = block + half * 64 + quarter % 2 * 32 + begin, *const high = block + 128 +
                                                                                            half * 32 + begin;
        const float scale = d * static_cast<float>(read<std::int8_t>(block + 192 + part));
        const std::size_t shift = quarter / 2 * 4, high_shift = 2 * quarter;
        for (std::size_t l = 0; l < kShortPart; ++l) {
            const int number = ((low[l] >> shift) & 0xF) | (((high[l] >> high_shift) & 3) << 4);
            out[part * kShortPart + l] = scale * static_cast<float>(number - 32);
        }
    }
}

constexpr std::array kKFormats = {
    element_blocks::format<kSuperBlock, 84, decodeQ2_K>(ElementType::Q2_K, "Q2_K", 10),
    element_blocks::format<kSuperBlock, 110, decodeQ3_K>(ElementType::Q3_K, "Q3_K", 11),
    element_blocks::format<kSuperBlock, 144, decodeQ4_K>(ElementType::Q4_K, "Q4_K", 12),
    element_blocks::format<kSuperBlock, 176, decodeQ5_K>(ElementType::Q5_K, "Q5_K", 13),
    element_blocks::format<kSuperBlock, 210, decodeQ6_K>(ElementType::Q6_K, "Q6_K", 14),
};

}  // namespace

std::span<const ElementFormat> kFormats() {
    return kKFormats;
}

}  // namespace roper
