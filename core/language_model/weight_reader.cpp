#include "core/language_model/weight_reader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace roper {
namespace {

std::span<float> numbersOf(const at::Tensor& tensor) {
    return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// Cache key of a place, which may be a part of a tensor.
std::string keyOf(const MatrixLocation& location) {
    return location.rows.empty() ? location.tensor
                                 : location.tensor + "@" + std::to_string(location.rows.front().first);
}

/// Reads and decodes rows on all threads. → [rows, row]
at::Tensor decodeRows(const TensorStore& store, const StoredTensor& tensor, std::int64_t first,
                      std::int64_t rows) {
    const std::int64_t row = tensor.shape.back();
    const at::Tensor out = at::empty({rows, row}, at::kFloat);
    at::parallel_for(0, rows, 64, [&](std::int64_t begin, std::int64_t end) {
        const auto at = [](std::int64_t location) { return static_cast<std::size_t>(location); };
        store.readRows(tensor, first + begin, end - begin,
                       numbersOf(out).subspan(at(begin * row), at((end - begin) * row)));
    });
    return out;
}

}  // namespace

at::Tensor WeightReader::decode(const MatrixLocation& location) const {
    const StoredTensor& tensor = store_->tensor(location.tensor);
    if (location.transposed) {
        const at::Tensor out = at::empty({location.out, location.in}, at::kFloat);
        const std::vector<float> numbers = readMatrix(*store_, location);
        std::copy(numbers.begin(), numbers.end(), numbersOf(out).begin());
        return out;
    }
    if (location.rows.empty()) return decodeRows(*store_, tensor, 0, location.out);
    std::vector<at::Tensor> parts;
    for (const auto& stretch : location.rows)
        parts.push_back(decodeRows(*store_, tensor, stretch.first, stretch.count));
    return parts.size() == 1 ? parts.front() : at::cat(parts);
}

at::Tensor WeightReader::matrix(const MatrixLocation& location) {
    const std::string key = keyOf(location);
    if (const auto found = decoded_.find(key); found != decoded_.end()) return found->second;
    at::Tensor decoded = decode(location);
    const auto bytes = static_cast<std::uint64_t>(decoded.nbytes());
    if (decoded_bytes_ + bytes <= budget_) {
        decoded_.emplace(key, decoded);
        decoded_bytes_ += bytes;
    }
    return decoded;
}

at::Tensor WeightReader::vector(const VectorLocation& location) {
    const std::vector<float> numbers = readVector(*store_, location);
    const at::Tensor out = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kFloat);
    std::copy(numbers.begin(), numbers.end(), numbersOf(out).begin());
    return out;
}

at::Tensor WeightReader::gatherRows(const MatrixLocation& table,
                                    std::span<const std::int64_t> indices) const {
    const StoredTensor& tensor = store_->tensor(table.tensor);
    const at::Tensor out = at::empty({static_cast<std::int64_t>(indices.size()), table.in}, at::kFloat);
    const auto row = static_cast<std::size_t>(table.in);
    for (std::size_t i = 0; i < indices.size(); ++i)
        store_->readRows(tensor, indices[i], 1, numbersOf(out).subspan(i * row, row));
    return out;
}

at::Tensor WeightReader::part(const MatrixLocation& location, std::int64_t first, std::int64_t count) {
    if (const auto found = decoded_.find(keyOf(location)); found != decoded_.end())
        return found->second.narrow(0, first, count);
    if (location.transposed || !location.rows.empty()) return matrix(location).narrow(0, first, count);
    const auto bytes = static_cast<std::uint64_t>(location.out * location.in) * sizeof(float);
    if (decoded_bytes_ + bytes <= budget_) return matrix(location).narrow(0, first, count);
    return decodeRows(*store_, store_->tensor(location.tensor), first, count);
}

}  // namespace roper
