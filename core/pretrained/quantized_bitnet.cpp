#include <nlohmann/json.hpp>

#include "core/pretrained/quantized_tensors.h"

namespace roper {
namespace {

/// A matrix of the numbers −1, 0 and 1 times one scale. Each byte holds four numbers, plus 1, in two bits
/// each: of one column, and of rows that are a quarter of the matrix apart.
class TernaryMatrix : public QuantizedMatrix {
  public:
    TernaryMatrix(StoredTensor bytes, float scale) : bytes_(std::move(bytes)), scale_(scale) {}

    void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                    std::span<float> out) const override {
        const std::int64_t quarter = bytes_.shape[0];
        const auto columns = static_cast<std::size_t>(bytes_.shape[1]);
        std::vector<std::byte> row(columns);
        for (std::int64_t r = first; r < first + rows; ++r) {
            store.readBytes(bytes_.file, bytes_.offset + static_cast<std::uint64_t>(r % quarter) * columns,
                            row);
            const auto shift = static_cast<unsigned>(2 * (r / quarter));
            float* const numbers = out.data() + static_cast<std::size_t>(r - first) * columns;
            for (std::size_t c = 0; c < columns; ++c) {
                const unsigned number = (static_cast<unsigned>(row[c]) >> shift) & 3U;
                numbers[c] = (static_cast<float>(number) - 1) * scale_;
            }
        }
    }

  private:
    StoredTensor bytes_;
    float scale_;
};

}  // namespace

void combineBitnet(const nlohmann::json& members, TensorStore& store) {
    requireKnownMembers(members, {"quant_method", "linear_class", "quantization_mode", "use_rms_norm",
                                  "rms_norm_eps", "modules_to_not_convert"});
    requireOneOf(members, "linear_class", {"bitlinear", "autobitlinear"});
    requireOneOf(members, "quantization_mode", {"offline"});
    requireOneOf(members, "use_rms_norm", {false});
    // The older class divides by the scale.
    const bool divides = members.value("linear_class", "bitlinear") == "bitlinear";
    for (const std::string& name : store.namesWithoutSuffix(".weight_scale")) {
        const std::string matrix = name + ".weight", scale_name = matrix + "_scale";
        const StoredTensor bytes = takePart(store, matrix), scale = takePart(store, scale_name);
        if (bytes.type != ElementType::U8 || bytes.shape.size() != 2)
            store.refuse(matrix, bytes, "is not a U8 matrix");
        requireType(store, scale_name, scale, kScaleTypes);
        if (scale.count() != 1) store.refuse(scale_name, scale, "is " + scale.shapeText() + ", not 1");
        const float number = store.readAll(scale).front();
        store.addQuantized(matrix, {4 * bytes.shape[0], bytes.shape[1]}, bytes.file,
                           std::make_shared<TernaryMatrix>(bytes, divides ? 1 / number : number));
    }
}

}  // namespace roper
