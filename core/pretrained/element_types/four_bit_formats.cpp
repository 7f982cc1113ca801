#include <array>

#include "core/pretrained/element_types/element_format.h"

// Four-bit codes for sixteen unevenly spaced values, in blocks with a scale.

namespace roper {
namespace {

using element_blocks::Byte, element_blocks::kBlock, element_blocks::kSuperBlock, element_blocks::read,
    element_blocks::scaleAt;

using SixteenValues = std::array<float, 16>;
/// Values of IQ4_NL and IQ4_XS.
constexpr SixteenValues kNonlinear = {-127, -104, -83, -65, -49, -35, -22, -10,
                                      1,    13,   25,  38,  53,  69,  89,  113};
/// Twice the values of E2M1 (floats with two exponent bits and one mantissa bit). There is no −0: ggml stores
/// these as integers.
constexpr SixteenValues kE2M1 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// The low halves of `bytes` bytes, then their high halves.
template <std::size_t bytes>
void decodeHalves(const Byte* q, float scale, const SixteenValues& values, float* out) {
    for (std::size_t j = 0; j < bytes; ++j) {
        out[j] = scale * values[q[j] & 0xF];
        out[j + bytes] = scale * values[q[j] >> 4];
    }
}

void decodeIQ4_NL(const Byte* block, float* out) {
    decodeHalves<16>(block + 2, scaleAt(block, 0), kNonlinear, out);
}

void decodeIQ4_XS(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    const unsigned high = read<std::uint16_t>(block + 2);
    const Byte *const low = block + 4, *const q = block + 8;
    for (std::size_t part = 0; part < kSuperBlock / kBlock; ++part) {
        const int four = (low[part / 2] >> (part % 2 * 4)) & 0xF,
                  two = static_cast<int>((high >> (2 * part)) & 3U);
        decodeHalves<16>(q + part * 16, d * static_cast<float>((four | (two << 4)) - 32), kNonlinear,
                         out + part * kBlock);
    }
}

/// Half the value of the E8M0 scale 2^(byte − 127), because `kE2M1` is doubled. 255, which is NaN in the OCP
/// standard, is 2^128 in ggml.
float halfOfE8M0(Byte byte) {
    return std::bit_cast<float>(byte < 2 ? 0x00200000U << byte
                                         : (static_cast<std::uint32_t>(byte) - 1) << 23U);
}

void decodeMXFP4(const Byte* block, float* out) {
    decodeHalves<16>(block + 1, halfOfE8M0(block[0]), kE2M1, out);
}

/// Half the value of an E4M3 scale whose sign bit is ignored, because `kE2M1` is doubled. 0x7F, which is NaN,
/// is 0 in ggml; 0xFF is not.
float halfOfE4M3(Byte byte) {
    if (byte == 0x7F) return 0;
    const std::uint32_t exponent = (byte >> 3U) & 0xFU, mantissa = byte & 7U;
    if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10F;
    return std::bit_cast<float>(((exponent + 119) << 23U) | (mantissa << 20U));
}

void decodeNVFP4(const Byte* block, float* out) {
    for (std::size_t part = 0; part < 4; ++part)
        decodeHalves<8>(block + 4 + part * 8, halfOfE4M3(block[part]), kE2M1, out + part * 16);
}

constexpr std::array kFourBitFormats = {
    element_blocks::format<kBlock, 18, decodeIQ4_NL>(ElementType::IQ4_NL, "IQ4_NL", 20),
    element_blocks::format<kSuperBlock, 136, decodeIQ4_XS>(ElementType::IQ4_XS, "IQ4_XS", 23),
    element_blocks::format<kBlock, 17, decodeMXFP4>(ElementType::MXFP4, "MXFP4", 39),
    element_blocks::format<64, 36, decodeNVFP4>(ElementType::NVFP4, "NVFP4", 40),
};

}  // namespace

std::span<const ElementFormat> fourBitFormats() {
    return kFourBitFormats;
}

}  // namespace roper
