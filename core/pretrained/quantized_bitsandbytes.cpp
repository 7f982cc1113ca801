#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

/// NF4 or FP4: all numbers of a matrix in one stream, two per byte, the first in the high half, as indices of
/// `code`. Each block of numbers has a scale. Scales may be quantized, too ("nested"), to eight bits and in
/// blocks of their own: scale = scales.code[byte] · scale of its block + offset.
class FourBitMatrix : public QuantizedMatrix {
  public:
    struct Scales {
        StoredTensor stored;           ///< F32, or U8 if nested
        std::vector<float> code;       ///< empty unless nested; 256 numbers
        std::vector<float> of_blocks;  ///< scales of the blocks of scales
        std::int64_t block = 1;        ///< scales in a block
        float offset = 0;
    };
    FourBitMatrix(StoredTensor numbers, std::vector<float> code, Scales scales, std::int64_t block,
                  std::int64_t columns)
        : numbers_(std::move(numbers)),
          code_(std::move(code)),
          scales_(std::move(scales)),
          block_(block),
          columns_(columns) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        if (rows == 0) return;
        const std::int64_t begin = first * columns_, end = begin + rows * columns_;
        std::vector<std::byte> bytes(static_cast<std::size_t>((end + 1) / 2 - begin / 2));
        store.readBytes(numbers_.file, numbers_.offset + static_cast<std::uint64_t>(begin / 2), bytes);
        const std::int64_t first_block = begin / block_;
        const std::vector<float> scales = scalesOf(store, first_block, (end - 1) / block_ + 1 - first_block);
        for (std::int64_t i = begin; i < end; ++i) {
            const auto byte = static_cast<unsigned>(bytes[static_cast<std::size_t>(i / 2 - begin / 2)]);
            out[static_cast<std::size_t>(i - begin)] =
                code_[i % 2 == 0 ? byte >> 4U : byte & 0xFU] *
                scales[static_cast<std::size_t>(i / block_ - first_block)];
        }
    }

  private:
    std::vector<float> scalesOf(const TensorStore& store, std::int64_t first, std::int64_t count) const {
        const std::size_t size = scales_.code.empty() ? sizeof(float) : 1;
        std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size);
        store.readBytes(scales_.stored.file, scales_.stored.offset + static_cast<std::uint64_t>(first) * size,
                        bytes);
        std::vector<float> scales(static_cast<std::size_t>(count));
        if (scales_.code.empty()) {
            decodeElements(ElementType::F32, bytes, scales);
            return scales;
        }
        for (std::int64_t i = 0; i < count; ++i)
            scales[static_cast<std::size_t>(i)] =
                scales_.code[static_cast<std::size_t>(bytes[static_cast<std::size_t>(i)])] *
                    scales_.of_blocks[static_cast<std::size_t>((first + i) / scales_.block)] +
                scales_.offset;
        return scales;
    }

    StoredTensor numbers_;
    std::vector<float> code_;
    Scales scales_;
    std::int64_t block_, columns_;
};

/// Rows of integers −127 to 127, scaled by the row's largest absolute value.
class EightBitMatrix : public QuantizedMatrix {
  public:
    EightBitMatrix(StoredTensor numbers, std::vector<float> largest)
        : numbers_(std::move(numbers)), largest_(std::move(largest)) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        constexpr float kInverse127 = 7.874015718698502e-3F;  // 1/127 as in bitsandbytes
        store.readRows(numbers_, first, rows, out);
        const std::int64_t columns = numbers_.shape.back();
        for (std::int64_t r = 0; r < rows; ++r)
            for (float& number :
                 out.subspan(static_cast<std::size_t>(r * columns), static_cast<std::size_t>(columns)))
                number = number * largest_[static_cast<std::size_t>(first + r)] * kInverse127;
    }

  private:
    StoredTensor numbers_;
    std::vector<float> largest_;
};

/// The JSON description of a four-bit matrix, stored as the bytes of a tensor.
struct FourBitState {
    std::int64_t block = 0, nested_block = 0;  ///< numbers in a block, scales in a block (0: not nested)
    std::vector<std::int64_t> shape;
    float nested_offset = 0;
};
FourBitState stateOf(const std::string& name, const TensorStore& store, const StoredTensor& stored) {
    constexpr std::int64_t kMaxStateBytes = 1 << 16, kMaxBlockSize = 1 << 16;
    if (stored.type != ElementType::U8 || stored.shape.size() != 1 || stored.count() > kMaxStateBytes)
        store.refuse(name, stored, "is not a short U8 string");
    const std::vector<std::byte> bytes = store.readRowBytes(stored, 0, 1);
    const auto require = [&](bool good) {
        if (!good) store.refuse(name, stored, "does not describe a four-bit matrix");
    };
    FourBitState state;
    try {
        const nlohmann::json json =
            parseStrictJson(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        const auto blockSize = [&](const char* key) {
            require(json.at(key).is_number_unsigned());
            const auto size = json.at(key).get<std::uint64_t>();
            require(size >= 1 && size <= kMaxBlockSize);
            return static_cast<std::int64_t>(size);
        };
        state.block = blockSize("blocksize");
        for (const nlohmann::json& dimension : json.at("shape")) {
            require(dimension.is_number_unsigned() && dimension.get<std::uint64_t>() <= 1U << 31U);
            state.shape.push_back(dimension.get<std::int64_t>());
        }
        require(state.shape.size() == 2 && state.shape[0] > 0 && state.shape[1] > 0);
        if (json.contains("nested_blocksize")) {
            state.nested_block = blockSize("nested_blocksize");
            state.nested_offset = json.at("nested_offset").get<float>();
        }
    } catch (const nlohmann::json::exception&) {
        require(false);
    } catch (const std::invalid_argument&) {
        require(false);
    }
    return state;
}

/// @param state_name  the tensor with the description of the matrix
void combineFourBit(const std::string& name, const std::string& state_name, TensorStore& store) {
    const FourBitState state = stateOf(state_name, store, takePart(store, state_name));
    const StoredTensor numbers = takePart(store, name);
    const std::int64_t count = state.shape[0] * state.shape[1], blocks = blocksIn(count, state.block);
    if (numbers.type != ElementType::U8 || numbers.count() != blocksIn(count, 2))
        store.refuse(name, numbers, "does not contain " + std::to_string(count) + " four-bit numbers in U8");
    const auto numbersOf = [&](const std::string& part, std::int64_t size) {
        const StoredTensor stored = takePart(store, name + part);
        requireShape(store, name + part, stored, {size});
        if (stored.type != ElementType::F32) store.refuse(name + part, stored, "is not F32");
        return store.readAll(stored);
    };
    FourBitMatrix::Scales scales;
    scales.stored = takePart(store, name + ".absmax");
    requireShape(store, name + ".absmax", scales.stored, {blocks});
    const ElementType type = state.nested_block > 0 ? ElementType::U8 : ElementType::F32;
    if (scales.stored.type != type)
        store.refuse(name + ".absmax", scales.stored, "is not of " + nameOf(type));
    if (state.nested_block > 0) {
        scales.code = numbersOf(".nested_quant_map", 256);
        scales.of_blocks = numbersOf(".nested_absmax", blocksIn(blocks, state.nested_block));
        scales.block = state.nested_block;
        scales.offset = state.nested_offset;
    }
    store.addQuantized(name, state.shape, numbers.file,
                       std::make_shared<FourBitMatrix>(numbers, numbersOf(".quant_map", 16),
                                                       std::move(scales), state.block, state.shape[1]));
}

void combineEightBit(const std::string& layer, TensorStore& store) {
    const std::string name = layer + ".weight";
    const StoredTensor largest = takePart(store, layer + ".SCB"), numbers = takePart(store, name);
    if (numbers.type != ElementType::I8 || numbers.shape.size() != 2)
        store.refuse(name, numbers, "is not an I8 matrix");
    requireShape(store, layer + ".SCB", largest, {numbers.shape[0]});
    requireType(store, layer + ".SCB", largest, kScaleTypes);
    if (const auto format = store.extract(name + "_format"))
        if (store.readAll(*format) != std::vector<float>{0})
            store.refuse(name + "_format", *format, "says that rows are rearranged, which is not supported");
    store.addQuantized(name, numbers.shape, numbers.file,
                       std::make_shared<EightBitMatrix>(numbers, store.readAll(largest)));
}

}  // namespace

void combineBitsandbytes(const nlohmann::json& config, TensorStore& store) {
    requireOneOf(config, "bnb_4bit_quant_storage", {"uint8"});
    requireOneOf(config, "llm_int8_has_fp16_weight", {false});
    for (const char* const kind : {"nf4", "fp4"}) {
        const std::string state = std::string(".quant_state.bitsandbytes__") + kind;
        for (const std::string& name : store.namesWithoutSuffix(state))
            combineFourBit(name, name + state, store);
    }
    for (const std::string& layer : store.namesWithoutSuffix(".SCB"))
        combineEightBit(layer, store);
}

}  // namespace roper
