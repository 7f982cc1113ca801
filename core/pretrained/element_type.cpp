#include "core/pretrained/element_type.h"

#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace roper {
namespace {

// Block layouts: ggml's ggml-common.h. All are little-endian and packed.

constexpr std::size_t kBlock = 32, kSuperBlock = 256;

struct Facts {
    ElementType type;
    const char* name;
    std::uint32_t gguf;
    std::size_t elements, bytes;
};
constexpr std::array kTypes = {
    Facts{ElementType::F32, "F32", 0, 1, 4},
    Facts{ElementType::F16, "F16", 1, 1, 2},
    Facts{ElementType::BF16, "BF16", 30, 1, 2},
    Facts{ElementType::Q8_0, "Q8_0", 8, kBlock, 34},
    Facts{ElementType::Q4_0, "Q4_0", 2, kBlock, 18},
    Facts{ElementType::Q4_1, "Q4_1", 3, kBlock, 20},
    Facts{ElementType::Q5_0, "Q5_0", 6, kBlock, 22},
    Facts{ElementType::Q5_1, "Q5_1", 7, kBlock, 24},
    Facts{ElementType::Q4_K, "Q4_K", 12, kSuperBlock, 144},
    Facts{ElementType::Q5_K, "Q5_K", 13, kSuperBlock, 176},
    Facts{ElementType::Q6_K, "Q6_K", 14, kSuperBlock, 210},
};

struct OtherType {
    std::uint32_t gguf;
    const char* name;
};
constexpr std::array kNotRead = {OtherType{9, "Q8_1"},     OtherType{10, "Q2_K"},    OtherType{11, "Q3_K"},
                                 OtherType{15, "Q8_K"},    OtherType{16, "IQ2_XXS"}, OtherType{17, "IQ2_XS"},
                                 OtherType{18, "IQ3_XXS"}, OtherType{19, "IQ1_S"},   OtherType{20, "IQ4_NL"},
                                 OtherType{21, "IQ3_S"},   OtherType{22, "IQ2_S"},   OtherType{23, "IQ4_XS"},
                                 OtherType{24, "I8"},      OtherType{25, "I16"},     OtherType{26, "I32"},
                                 OtherType{27, "I64"},     OtherType{28, "F64"},     OtherType{29, "IQ1_M"},
                                 OtherType{34, "TQ1_0"},   OtherType{35, "TQ2_0"},   OtherType{39, "MXFP4"}};

const Facts& factsOf(ElementType type) {
    for (const Facts& facts : kTypes)
        if (facts.type == type) return facts;
    throw std::invalid_argument("no such element type");
}

using Byte = std::uint8_t;

template <class Number>
Number read(const Byte* from) {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
}

float halfToFloat(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = (half >> 10U) & 0x1FU,
                        mantissa = half & 0x3FFU;
    if (exponent == 0) {  // zero or subnormal: mantissa · 2⁻²⁴
        const float size = static_cast<float>(mantissa) * 0x1p-24F;
        return sign == 0 ? size : -size;
    }
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
    return std::bit_cast<float>(sign | ((exponent + 112) << 23U) | (mantissa << 13U));
}

float scaleAt(const Byte* block, std::size_t place) {
    return halfToFloat(read<std::uint16_t>(block + place));
}

void decodeQ8_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    for (std::size_t j = 0; j < kBlock; ++j)
        out[j] = d * static_cast<float>(read<std::int8_t>(block + 2 + j));
}

void decodeQ4_0(const Byte* block, float* out) {
    const float d = scaleAt(block, 0);
    const Byte* const q = block + 2;
    for (std::size_t j = 0; j < kBlock / 2; ++j) {
        out[j] = d * static_cast<float>((q[j] & 0xF) - 8);
        out[j + kBlock / 2] = d * static_cast<float>((q[j] >> 4) - 8);
    }
}

void decodeQ4_1(const Byte* block, float* out) {
    const float d = scaleAt(block, 0), least = scaleAt(block, 2);
    const Byte* const q = block + 4;
    for (std::size_t j = 0; j < kBlock / 2; ++j) {
        out[j] = d * static_cast<float>(q[j] & 0xF) + least;
        out[j + kBlock / 2] = d * static_cast<float>(q[j] >> 4) + least;
    }
}

/// `high` holds the fifth bit of each of the 32 numbers of a block.
void decodeQ5(float d, float least, int offset, const Byte* q, std::uint32_t high, float* out) {
    for (std::size_t j = 0; j < kBlock / 2; ++j) {
        const int low_half = (q[j] & 0xF) | static_cast<int>(((high >> j) & 1U) << 4U),
                  high_half = (q[j] >> 4) | static_cast<int>(((high >> (j + kBlock / 2)) & 1U) << 4U);
        out[j] = d * static_cast<float>(low_half - offset) + least;
        out[j + kBlock / 2] = d * static_cast<float>(high_half - offset) + least;
    }
}

void decodeQ5_0(const Byte* block, float* out) {
    decodeQ5(scaleAt(block, 0), 0, 16, block + 6, read<std::uint32_t>(block + 2), out);
}

void decodeQ5_1(const Byte* block, float* out) {
    decodeQ5(scaleAt(block, 0), scaleAt(block, 2), 0, block + 8, read<std::uint32_t>(block + 4), out);
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
    for (std::size_t part = 0; part < kSuperBlock / kBlock; ++part) {
        const ScaleAndMinimum packed = partOf(block + 4, part);
        const float scale = d * static_cast<float>(packed.scale),
                    minimum = least * static_cast<float>(packed.minimum);
        const Byte* const from = q + (part / 2) * kBlock;
        for (std::size_t l = 0; l < kBlock; ++l) {
            int number = part % 2 == 0 ? from[l] & 0xF : from[l] >> 4;
            if (high != nullptr) number |= ((high[l] >> part) & 1) << 4;
            out[part * kBlock + l] = scale * static_cast<float>(number) - minimum;
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
    constexpr std::size_t kHalf = kSuperBlock / 2;
    for (std::size_t half = 0; half < 2; ++half) {
        const Byte *const low = block + half * 64, *const high = block + 128 + half * 32,
                          *const scales = block + 192 + half * 8;
        for (std::size_t quarter = 0; quarter < 4; ++quarter)
            for (std::size_t l = 0; l < kBlock; ++l) {
                const Byte four = low[(quarter % 2) * kBlock + l];
                const int bits =
                    (quarter < 2 ? four & 0xF : four >> 4) | (((high[l] >> (2 * quarter)) & 3) << 4);
                const auto scale = read<std::int8_t>(scales + 2 * quarter + l / 16);
                out[half * kHalf + quarter * kBlock + l] =
                    d * static_cast<float>(scale) * static_cast<float>(bits - 32);
            }
    }
}

template <void (*decode)(const Byte*, float*)>
void decodeBlocks(std::span<const std::byte> blocks, const Facts& facts, float* out) {
    const auto* block = reinterpret_cast<const Byte*>(blocks.data());
    for (const auto* const end = block + blocks.size(); block != end;
         block += facts.bytes, out += facts.elements)
        decode(block, out);
}

void decodeF16(const Byte* block, float* out) {
    *out = halfToFloat(read<std::uint16_t>(block));
}

void decodeBF16(const Byte* block, float* out) {
    *out = std::bit_cast<float>(static_cast<std::uint32_t>(read<std::uint16_t>(block)) << 16U);
}

}  // namespace

std::string nameOf(ElementType type) {
    return factsOf(type).name;
}

std::size_t elementsPerBlock(ElementType type) {
    return factsOf(type).elements;
}

std::size_t bytesPerBlock(ElementType type) {
    return factsOf(type).bytes;
}

std::optional<ElementType> elementTypeOfGguf(std::uint32_t number) {
    for (const Facts& facts : kTypes)
        if (facts.gguf == number) return facts.type;
    return std::nullopt;
}

std::string ggufTypeName(std::uint32_t number) {
    if (const auto known = elementTypeOfGguf(number)) return nameOf(*known);
    for (const OtherType& other : kNotRead)
        if (other.gguf == number) return other.name;
    return "type " + std::to_string(number);
}

void decodeElements(ElementType type, std::span<const std::byte> blocks, std::span<float> out) {
    const Facts& facts = factsOf(type);
    if (blocks.size() % facts.bytes != 0 || blocks.size() / facts.bytes * facts.elements != out.size())
        throw std::invalid_argument(std::to_string(blocks.size()) + " bytes of " + facts.name + " are not " +
                                    std::to_string(out.size()) + " numbers");
    switch (type) {
        case ElementType::F32:
            if (!blocks.empty()) std::memcpy(out.data(), blocks.data(), blocks.size());
            return;
        case ElementType::F16:
            return decodeBlocks<decodeF16>(blocks, facts, out.data());
        case ElementType::BF16:
            return decodeBlocks<decodeBF16>(blocks, facts, out.data());
        case ElementType::Q8_0:
            return decodeBlocks<decodeQ8_0>(blocks, facts, out.data());
        case ElementType::Q4_0:
            return decodeBlocks<decodeQ4_0>(blocks, facts, out.data());
        case ElementType::Q4_1:
            return decodeBlocks<decodeQ4_1>(blocks, facts, out.data());
        case ElementType::Q5_0:
            return decodeBlocks<decodeQ5_0>(blocks, facts, out.data());
        case ElementType::Q5_1:
            return decodeBlocks<decodeQ5_1>(blocks, facts, out.data());
        case ElementType::Q4_K:
            return decodeBlocks<decodeQ4_K>(blocks, facts, out.data());
        case ElementType::Q5_K:
            return decodeBlocks<decodeQ5_K>(blocks, facts, out.data());
        case ElementType::Q6_K:
            return decodeBlocks<decodeQ6_K>(blocks, facts, out.data());
    }
}

}  // namespace roper
