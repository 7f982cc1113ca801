#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "core/pretrained/element_types/element_type.h"

namespace roper {

/// Storage format of one type: blocks of `elements` numbers in `bytes` bytes, little-endian and packed.
struct ElementFormat {
    ElementType type;
    const char* name;
    std::optional<std::uint32_t> gguf;  ///< the type's id in GGUF files, if it has one
    std::size_t elements, bytes;        ///< of a block
    void (*decode)(const std::uint8_t* blocks, std::size_t count, float* out);  ///< `count` blocks
};

/// The formats by group, as in the .cpp files. Those of ggml are laid out as in its ggml-common.h and decoded
/// with the arithmetic of the Python package gguf 0.19.0 (gguf/quants.py), so that results agree bit for bit.
std::span<const ElementFormat> plainFormats();
std::span<const ElementFormat> shortBlockFormats();
std::span<const ElementFormat> kFormats();
std::span<const ElementFormat> gridFormats();
std::span<const ElementFormat> ternaryFormats();
std::span<const ElementFormat> fourBitFormats();

namespace element_blocks {

using Byte = std::uint8_t;

/// Elements of a block in the older formats, and of a super-block in the newer ones.
constexpr std::size_t kBlock = 32, kSuperBlock = 256;

template <class Number>
Number read(const Byte* from) {
    Number number;
    std::memcpy(&number, from, sizeof number);
    return number;
}

/// Without branches, so that loops over it are vectorized.
inline float halfToFloat(std::uint16_t half) {
    constexpr std::uint32_t kBias = 112U << 23U;  // exponent bias of float32 minus that of float16
    const std::uint32_t sign = (half & 0x8000U) << 16U, exponent = half & 0x7C00U, mantissa = half & 0x3FFU;
    const auto subnormal =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(mantissa)) * 0x1p-24F);
    const auto is_subnormal = static_cast<std::uint32_t>(exponent == 0),
               is_infinite = static_cast<std::uint32_t>(exponent == 0x7C00U);
    const std::uint32_t normal = ((half & 0x7FFFU) << 13U) + kBias + is_infinite * kBias;
    return std::bit_cast<float>(sign | (subnormal & (0U - is_subnormal)) | (normal & (is_subnormal - 1U)));
}

/// The float16 at this byte offset of a block.
inline float scaleAt(const Byte* block, std::size_t offset) {
    return halfToFloat(read<std::uint16_t>(block + offset));
}

template <std::size_t elements, std::size_t bytes, void (*decodeBlock)(const Byte*, float*)>
void decodeBlocks(const Byte* block, std::size_t count, float* out) {
    for (std::size_t i = 0; i < count; ++i)
        decodeBlock(block + i * bytes, out + i * elements);
}

template <std::size_t elements, std::size_t bytes, void (*decodeBlock)(const Byte*, float*)>
constexpr ElementFormat format(ElementType type, const char* name, std::optional<std::uint32_t> gguf) {
    return {type, name, gguf, elements, bytes, decodeBlocks<elements, bytes, decodeBlock>};
}

}  // namespace element_blocks
}  // namespace roper
