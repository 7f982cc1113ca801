#pragma once

#include <bit>
#include <cstdint>

namespace roper {

/// The upper half of a float32: its sign, exponent and 8 bits of precision.
enum class BFloat16 : std::uint16_t {};

inline float toFloat(BFloat16 number) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(number) << 16);
}

/// Rounds to nearest, ties to even. NaN and infinities are preserved.
inline BFloat16 toBFloat16(float number) {
    if (number != number) return static_cast<BFloat16>(0x7FC0);
    const auto bits = std::bit_cast<std::uint32_t>(number);
    return static_cast<BFloat16>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace roper
