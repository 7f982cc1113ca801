#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.h"
#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

/// A matrix, or several of the same size: number = stored number · scale of its block. Scales are […, ⌈rows /
/// block rows⌉, ⌈columns / block columns⌉].
class ScaledMatrix : public QuantizedMatrix {
  public:
    struct Block {
        std::int64_t rows, columns;
    };
    ScaledMatrix(StoredTensor numbers, std::vector<float> scales, Block block)
        : numbers_(std::move(numbers)),
          scales_(std::move(scales)),
          block_(block),
          rows_(numbers_.shape[numbers_.shape.size() - 2]),
          columns_(numbers_.shape.back()) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        store.readRows(numbers_, first, rows, out);
        const std::int64_t across = blocksIn(columns_, block_.columns), down = blocksIn(rows_, block_.rows);
        float* row = out.data();
        for (std::int64_t r = first; r < first + rows; ++r, row += columns_) {
            const std::int64_t matrix = r / rows_, in_matrix = r % rows_;
            const float* const scales = scales_.data() + (matrix * down + in_matrix / block_.rows) * across;
            for (std::int64_t b = 0; b < across; ++b) {
                const std::int64_t end = std::min(columns_, (b + 1) * block_.columns);
                for (std::int64_t c = b * block_.columns; c < end; ++c)
                    row[c] *= scales[b];
            }
        }
    }

  private:
    StoredTensor numbers_;
    std::vector<float> scales_;
    Block block_;
    std::int64_t rows_, columns_;
};

/// The block size in the config; 128 × 128 if it is absent, as in transformers; nullopt if it is null: each
/// matrix has one scale.
std::optional<ScaledMatrix::Block> blockSizeOf(const nlohmann::json& members) {
    const auto found = members.find("weight_block_size");
    if (found == members.end()) return ScaledMatrix::Block{128, 128};
    if (found->is_null()) return std::nullopt;
    constexpr std::int64_t kMaxScaleSize = 1 << 20;
    const auto isSize = [](const nlohmann::json& size) {
        return size.is_number_unsigned() && size.get<std::uint64_t>() >= 1 &&
               size.get<std::uint64_t>() <= kMaxScaleSize;
    };
    if (!found->is_array() || found->size() != 2 || !isSize((*found)[0]) || !isSize((*found)[1]))
        throw Error(ErrorKind::usage, "weight_block_size is not a pair of sizes");
    return ScaledMatrix::Block{(*found)[0].get<std::int64_t>(), (*found)[1].get<std::int64_t>()};
}

/// Number of matrices in a tensor of at least two dimensions.
std::int64_t matricesIn(const StoredTensor& tensor) {
    return std::accumulate(tensor.shape.begin(), tensor.shape.end() - 2, std::int64_t{1},
                           std::multiplies<>());
}

bool isFp8(ElementType type) {
    return type == ElementType::F8_E4M3 || type == ElementType::F8_E5M2;
}

void combineOne(const std::string& name, std::optional<ScaledMatrix::Block> block, TensorStore& store) {
    const std::string scale_name = name + "_scale_inv";
    const StoredTensor numbers = takePart(store, name);
    StoredTensor scale = takePart(store, scale_name);
    if (numbers.shape.size() < 2) store.refuse(name, numbers, "is quantized but is not a matrix");
    std::vector<std::int64_t> expected = numbers.shape;
    std::int64_t &rows = expected[expected.size() - 2], &columns = expected.back();
    const std::int64_t matrices = matricesIn(numbers);
    if (block) {
        rows = blocksIn(rows, block->rows);
        columns = blocksIn(columns, block->columns);
        requireShape(store, scale_name, scale, expected);
    } else {
        block = ScaledMatrix::Block{std::max<std::int64_t>(1, rows), std::max<std::int64_t>(1, columns)};
        if (scale.count() != matrices)
            store.refuse(scale_name, scale, "is " + scale.shapeText() + "; one scale per matrix is expected");
    }
    // A scale stored as U8 is an exponent, as in F8_E8M0.
    if (scale.type == ElementType::U8) scale.type = ElementType::F8_E8M0;
    if (scale.type != ElementType::F8_E8M0) requireType(store, scale_name, scale, kScaleTypes);
    store.addQuantized(name, numbers.shape, numbers.file,
                       std::make_shared<ScaledMatrix>(numbers, store.readAll(scale), *block));
}

}  // namespace

void combineFp8(const nlohmann::json& members, TensorStore& store) {
    requireKnownMembers(members, {"quant_method", "weight_block_size", "activation_scheme", "fmt",
                                  "scale_fmt", "modules_to_not_convert", "ignored_layers",
                                  "modules_to_convert", "dequantize", "expert_dtype"});
    requireOneOf(members, "fmt", {"e4m3", "e5m2", "float8_e4m3fn"});
    requireOneOf(members, "expert_dtype", {"fp8"});
    const auto block = blockSizeOf(members);
    std::vector<std::string> names;
    for (const auto& [name, tensor] : store.tensors())
        if (isFp8(tensor.type) && !tensor.quantized) names.push_back(name);
    for (const std::string& name : names) {
        combineOne(name, block, store);
        // Scales of the layer's input; activations are not quantized here.
        const std::string layer = name.substr(0, name.rfind('.') + 1);
        for (const char* const scale : {"activation_scale", "input_scale"})
            store.extract(layer + scale);
    }
}

void combineSecondScales(TensorStore& store, std::vector<std::string>& notes) {
    bool has_any = false;
    for (const std::string& name : store.namesWithoutSuffix(".scale")) {
        const std::string weight = name + ".weight", scale = name + ".scale";
        if (!store.has(weight) || store.tensor(weight).type != ElementType::NVFP4) continue;
        const StoredTensor numbers = takePart(store, weight), factors = takePart(store, scale);
        store.extract(name + ".input_scale");
        if (numbers.shape.size() < 2) store.refuse(weight, numbers, "is quantized but is not a matrix");
        requireType(store, scale, factors, {ElementType::F32});
        const std::int64_t matrices = matricesIn(numbers);
        std::vector<float> scales = store.readAll(factors);
        if (scales.size() == 1) scales.resize(static_cast<std::size_t>(matrices), scales.front());
        if (std::ssize(scales) != matrices)
            store.refuse(scale, factors, "is " + factors.shapeText() + "; one scale per matrix is expected");
        const ScaledMatrix::Block whole{std::max<std::int64_t>(1, numbers.shape[numbers.shape.size() - 2]),
                                        std::max<std::int64_t>(1, numbers.shape.back())};
        store.addQuantized(weight, numbers.shape, numbers.file,
                           std::make_shared<ScaledMatrix>(numbers, std::move(scales), whole));
        has_any = true;
    }
    if (has_any)
        notes.emplace_back(
            "matrices in NVFP4 are multiplied by the scale beside each of them, and activations are not "
            "quantized");
}

}  // namespace roper
