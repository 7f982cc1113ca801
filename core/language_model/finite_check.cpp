#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/language_model/decoder.h"

namespace roper {
namespace {

/// Whether all numbers of a tensor are finite; reads it in parts.
bool isFinite(const TensorStore& store, const StoredTensor& tensor) {
    constexpr std::int64_t kNumbersAtOnce = 1 << 20;
    const std::int64_t row = tensor.shape.empty() ? 1 : std::max<std::int64_t>(1, tensor.shape.back());
    const std::int64_t rows = tensor.count() / row, at_once = std::max<std::int64_t>(1, kNumbersAtOnce / row);
    std::vector<float> part;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first);
        part.resize(static_cast<std::size_t>(count * row));
        store.readRows(tensor, first, count, part);
        if (!std::all_of(part.begin(), part.end(), [](float number) { return std::isfinite(number); }))
            return false;
    }
    return true;
}

}  // namespace

void requireFinite(const at::Tensor& x, const std::string& where, const PretrainedModel& model) {
    // A finite sum has finite terms and takes one pass; the sum of finite terms may overflow.
    if (std::isfinite(x.sum().item<float>()) || at::isfinite(x).all().item<bool>()) return;
    for (const auto& [name, tensor] : model.tensors->tensors())
        if (!isFinite(*model.tensors, tensor))
            throw Error(ErrorKind::checkpoint, model.tensors->pathOfFile(tensor.file) + ": the tensor " +
                                                   toSingleLine(name) +
                                                   " contains NaN or infinity; the model cannot be used");
    throw Error(ErrorKind::checkpoint, model.tensors->pathOfFile(0) + ": numbers overflow float32 in " +
                                           where + ", though all parameters are finite");
}

}  // namespace roper
