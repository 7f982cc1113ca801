#include "core/language_model/weight_reader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace roper {
namespace {

std::span<float> numbersOf(const at::Tensor& tensor) {
    return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// Cache key of a matrix, which may be a part of a tensor.
std::string keyOf(const MatrixLocation& location) {
    std::string key = location.tensor;
    if (!location.rows.empty()) key.append("@").append(std::to_string(location.rows.front().first));
    if (location.index) key.append("#").append(std::to_string(*location.index));
    return key;
}

/// Reads and decodes rows on all threads → [rows, numbers per row]
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
    const std::int64_t index = location.index.value_or(0);
    std::vector<at::Tensor> parts;
    if (location.transposed) {
        const at::Tensor whole = decodeRows(*store_, tensor, index * location.in, location.in);
        if (location.rows.empty()) return whole.t().contiguous();
        for (const auto& range : location.rows)
            parts.push_back(whole.narrow(1, range.first, range.count));
        return at::cat(parts, 1).t().contiguous();
    }
    if (location.rows.empty()) return decodeRows(*store_, tensor, index * location.out, location.out);
    for (const auto& range : location.rows)
        parts.push_back(decodeRows(*store_, tensor, range.first, range.count));
    return parts.size() == 1 ? parts.front() : at::cat(parts);
}

void WeightReader::makeRoomFor(std::uint64_t bytes) {
    while (decoded_bytes_ + bytes > budget_ && bytes <= budget_ && !kept_experts_.empty()) {
        decoded_bytes_ -= static_cast<std::uint64_t>(kept_experts_.begin()->second.nbytes());
        kept_experts_.erase(kept_experts_.begin());
    }
}

at::Tensor WeightReader::matrix(const MatrixLocation& location, Part part) {
    std::map<std::string, at::Tensor>& kept = part == Part::of_expert ? kept_experts_ : decoded_;
    const std::string key = keyOf(location);
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
    at::Tensor decoded = decode(location);
    const auto bytes = static_cast<std::uint64_t>(decoded.nbytes());
    if (part == Part::of_all_tokens) makeRoomFor(bytes);
    if (decoded_bytes_ + bytes <= budget_) {
        kept.emplace(key, decoded);
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
