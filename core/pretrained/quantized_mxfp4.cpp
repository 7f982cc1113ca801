#include <algorithm>
#include <array>
#include <bit>
#include <nlohmann/json.hpp>

#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

/// Twice the values of E2M1 (floats with two exponent bits and one mantissa bit), so that the scale below is
/// half of 2^(byte − 127), which is finite for all bytes.
constexpr std::array<float, 16> kDoubledE2M1 = {0,     1,     2,     3,     4,     6,     8,     12,
                                                -0.0F, -1.0F, -2.0F, -3.0F, -4.0F, -6.0F, -8.0F, -12.0F};

float halfOfPower(std::byte byte) {
    const auto exponent = static_cast<std::uint32_t>(byte);
    return std::bit_cast<float>(exponent < 2 ? 0x00200000U << exponent : (exponent - 1) << 23U);
}

/// Matrices [experts, in, out] stored transposed: blocks of 32 numbers along `in` as 16 bytes, the number
/// with the even index in the low half of a byte, and a scale for each block.
class Mxfp4Experts : public QuantizedMatrix {
  public:
    Mxfp4Experts(StoredTensor blocks, StoredTensor scales)
        : blocks_(std::move(blocks)),
          scales_(std::move(scales)),
          out_(scales_.shape[1]),
          per_row_(scales_.shape[2]) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        const std::int64_t in = per_row_ * kNumbers;
        for (std::int64_t done = 0; done < rows;) {
            const std::int64_t expert = (first + done) / in, begin = (first + done) % in,
                               end = std::min(in, begin + rows - done);
            decodeColumns(store, expert, begin, end, out.data() + done * out_);
            done += end - begin;
        }
    }

  private:
    static constexpr std::int64_t kNumbers = 32, kBytes = 16;

    /// Columns `begin` to `end` of the stored matrix of an expert, as rows.
    void decodeColumns(const TensorStore& store, std::int64_t expert, std::int64_t begin, std::int64_t end,
                       float* out) const {
        constexpr std::int64_t kRowsAtOnce = 64;
        std::vector<std::byte> numbers, scales;
        for (std::int64_t first = 0; first < out_; first += kRowsAtOnce) {
            const std::int64_t count = std::min(kRowsAtOnce, out_ - first);
            const auto block = static_cast<std::uint64_t>((expert * out_ + first) * per_row_);
            numbers.resize(static_cast<std::size_t>(count * per_row_ * kBytes));
            scales.resize(static_cast<std::size_t>(count * per_row_));
            store.readBytes(blocks_.file, blocks_.offset + block * kBytes, numbers);
            store.readBytes(scales_.file, scales_.offset + block, scales);
            for (std::int64_t i = begin; i < end; ++i) {
                const unsigned shift = i % 2 == 0 ? 0 : 4;
                const std::byte* byte = numbers.data() + i / 2;
                const std::byte* scale = scales.data() + i / kNumbers;
                float* const row = out + (i - begin) * out_ + first;
                for (std::int64_t o = 0; o < count; ++o, byte += per_row_ * kBytes, scale += per_row_)
                    row[o] =
                        kDoubledE2M1[(static_cast<unsigned>(*byte) >> shift) & 0xFU] * halfOfPower(*scale);
            }
        }
    }

    StoredTensor blocks_, scales_;
    std::int64_t out_, per_row_;
};

}  // namespace

void combineMxfp4(const nlohmann::json& members, TensorStore& store) {
    requireKnownMembers(members, {"quant_method", "modules_to_not_convert", "dequantize"});
    for (const std::string& name : store.namesWithoutSuffix("_blocks")) {
        const StoredTensor blocks = takePart(store, name + "_blocks"),
                           scales = takePart(store, name + "_scales");
        if (blocks.type != ElementType::U8 || blocks.shape.size() != 4 || blocks.shape[3] != 16)
            store.refuse(name + "_blocks", blocks, "is not experts × out × blocks × 16 of U8");
        if (scales.type != ElementType::U8) store.refuse(name + "_scales", scales, "is not of U8");
        const std::vector<std::int64_t>& shape = blocks.shape;
        requireShape(store, name + "_scales", scales, {shape[0], shape[1], shape[2]});
        store.addQuantized(name, {shape[0], shape[2] * 32, shape[1]}, blocks.file,
                           std::make_shared<Mxfp4Experts>(blocks, scales));
    }
}

}  // namespace roper
