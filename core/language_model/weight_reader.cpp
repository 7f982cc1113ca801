#include "core/language_model/weight_reader.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/kernels/packed_product.h"
#include "core/operators/products.h"

namespace roper {
namespace {

constexpr std::int64_t kRowsPerTask = 64;

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
    at::parallel_for(0, rows, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        const auto at = [](std::int64_t location) { return static_cast<std::size_t>(location); };
        store.readRows(tensor, first + begin, end - begin,
                       numbersOf(out).subspan(at(begin * row), at((end - begin) * row)));
    });
    return out;
}

std::optional<Packing> packingOf(ElementType type) {
    switch (type) {
        case ElementType::F16:
            return Packing::f16;
        case ElementType::BF16:
            return Packing::bf16;
        case ElementType::Q8_0:
            return Packing::q8_0;
        case ElementType::Q4_0:
            return Packing::q4_0;
        case ElementType::Q4_1:
            return Packing::q4_1;
        case ElementType::Q5_0:
            return Packing::q5_0;
        case ElementType::Q5_1:
            return Packing::q5_1;
        case ElementType::Q4_K:
            return Packing::q4_k;
        case ElementType::Q5_K:
            return Packing::q5_k;
        case ElementType::Q6_K:
            return Packing::q6_k;
        default:
            return std::nullopt;
    }
}

/// How the kernel can multiply by a matrix without decoding it first, if it can and the matrix is within its
/// tensor.
std::optional<Packing> packingOf(const StoredTensor& tensor, const MatrixLocation& location) {
    if (location.transposed || tensor.quantized || tensor.shape.back() != location.in || !canMultiplyPacked())
        return std::nullopt;
    std::int64_t end = (location.index.value_or(0) + 1) * location.out;
    if (!location.rows.empty()) end = 0;
    for (const MatrixLocation::Rows& stretch : location.rows)
        end = std::max(end, stretch.first + stretch.count);
    return end * location.in <= tensor.count() ? packingOf(tensor.type) : std::nullopt;
}

std::size_t rowBytesOf(const StoredTensor& tensor) {
    return static_cast<std::size_t>(tensor.shape.back()) / elementsPerBlock(tensor.type) *
           bytesPerBlock(tensor.type);
}

/// Copies `count` rows of a matrix from row `first` on, as they are stored.
void readPackedRows(const TensorStore& store, const StoredTensor& tensor, const MatrixLocation& location,
                    std::int64_t first, std::int64_t count, std::byte* into) {
    const std::size_t row_bytes = rowBytesOf(tensor);
    const auto read = [&](std::int64_t row, std::int64_t rows) {
        const std::size_t bytes = static_cast<std::size_t>(rows) * row_bytes;
        store.readBytes(tensor.file, tensor.offset + static_cast<std::uint64_t>(row) * row_bytes,
                        {into, bytes});
        into += bytes;
    };
    if (location.rows.empty()) return read(location.index.value_or(0) * location.out + first, count);
    for (const MatrixLocation::Rows& stretch : location.rows) {
        const std::int64_t skipped = std::min(first, stretch.count),
                           taken = std::min(count, stretch.count - skipped);
        if (taken > 0) read(stretch.first + skipped, taken);
        first -= skipped;
        count -= std::max<std::int64_t>(taken, 0);
    }
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
    while (kept_bytes_ + bytes > budget_ && bytes <= budget_ && !kept_experts_.empty()) {
        kept_bytes_ -= static_cast<std::uint64_t>(kept_experts_.begin()->second.nbytes());
        kept_experts_.erase(kept_experts_.begin());
    }
}

bool WeightReader::shouldKeep(const std::string& key, std::uint64_t bytes, Part part) {
    if (read_once_.insert(key).second) return false;
    if (part == Part::of_all_tokens) makeRoomFor(bytes);
    return kept_bytes_ + bytes <= budget_;
}

at::Tensor WeightReader::keep(const std::string& key, const at::Tensor& tensor, Part part) {
    keptOf(part).emplace(key, tensor);
    kept_bytes_ += static_cast<std::uint64_t>(tensor.nbytes());
    return tensor;
}

at::Tensor WeightReader::matrix(const MatrixLocation& location, Part part) {
    const std::string key = keyOf(location);
    if (const auto found = keptOf(part).find(key); found != keptOf(part).end()) return found->second;
    const at::Tensor decoded = decode(location);
    const auto bytes = static_cast<std::uint64_t>(decoded.nbytes());
    return shouldKeep(key, bytes, part) ? keep(key, decoded, part) : decoded;
}

at::Tensor WeightReader::packed(const MatrixLocation& location, const StoredTensor& tensor, bool begins_pass,
                                Part part) {
    const std::string key = keyOf(location) + "|packed";
    if (const auto found = keptOf(part).find(key); found != keptOf(part).end()) return found->second;
    const std::uint64_t bytes = static_cast<std::uint64_t>(location.out) * rowBytesOf(tensor);
    if (!begins_pass || !shouldKeep(key, bytes, part)) return {};
    const at::Tensor all = at::empty({static_cast<std::int64_t>(bytes)}, at::kByte);
    readPackedRows(*store_, tensor, location, 0, location.out,
                   static_cast<std::byte*>(all.mutable_data_ptr()));
    return keep(key, all, part);
}

at::Tensor WeightReader::product(const at::Tensor& x, const MatrixLocation& location, Part part) {
    return productOfRows(x, location, 0, location.out, part);
}

at::Tensor WeightReader::productOfRows(const at::Tensor& x, const MatrixLocation& location,
                                       std::int64_t first, std::int64_t count, Part part) {
    const at::Tensor out = at::empty({x.size(0), count}, at::kFloat), dense = x.contiguous();
    const StoredTensor& tensor = store_->tensor(location.tensor);
    const auto packing = packingOf(tensor, location);
    if (out.numel() == 0) return out;
    const auto multiplyBy = [&](const at::Tensor& weight) {
        multiplyInto(out, dense, weight.t());
        return out;
    };
    if (!packing || x.size(1) != location.in ||
        x.size(0) > static_cast<std::int64_t>(PackedProductInput::kMaxRows))
        return multiplyBy(count == location.out ? matrix(location, part)
                                                : this->part(location, first, count));
    const at::Tensor all = packed(location, tensor, /*begins_pass=*/first == 0, part);
    if (!all.defined())
        if (const auto decoded = keptOf(part).find(keyOf(location)); decoded != keptOf(part).end())
            return multiplyBy(decoded->second.narrow(0, first, count));
    const PackedProductInput input(dense.const_data_ptr<float>(), static_cast<std::size_t>(x.size(0)),
                                   static_cast<std::size_t>(location.in));
    const std::size_t row_bytes = rowBytesOf(tensor);
    float* const y = out.mutable_data_ptr<float>();
    at::parallel_for(0, count, kRowsPerTask, [&](std::int64_t begin, std::int64_t end) {
        const auto rows = static_cast<std::size_t>(end - begin);
        std::vector<std::byte> read;
        const std::byte* matrix = nullptr;
        if (all.defined()) {
            matrix = static_cast<const std::byte*>(all.const_data_ptr()) +
                     static_cast<std::size_t>(first + begin) * row_bytes;
        } else {
            read.resize(rows * row_bytes);
            readPackedRows(*store_, tensor, location, first + begin, end - begin, read.data());
            matrix = read.data();
        }
        multiplyPacked(*packing, matrix, rows, input, y + begin, static_cast<std::size_t>(count));
    });
    return out;
}

at::Tensor WeightReader::vector(const VectorLocation& location) {
    std::string key = "vector " + location.tensor;
    if (!location.parts.empty()) key.append("@").append(std::to_string(location.parts.front().first));
    if (location.index) key.append("#").append(std::to_string(*location.index));
    if (const auto found = kept_.find(key); found != kept_.end()) return found->second;
    const std::vector<float> numbers = readVector(*store_, location);
    const at::Tensor out = at::empty({static_cast<std::int64_t>(numbers.size())}, at::kFloat);
    std::copy(numbers.begin(), numbers.end(), numbersOf(out).begin());
    constexpr auto kPart = Part::of_all_tokens;
    return shouldKeep(key, static_cast<std::uint64_t>(out.nbytes()), kPart) ? keep(key, out, kPart) : out;
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
    const std::string key = keyOf(location);
    if (const auto found = kept_.find(key); found != kept_.end())
        return found->second.narrow(0, first, count);
    if (location.transposed || !location.rows.empty()) return matrix(location).narrow(0, first, count);
    const auto bytes = static_cast<std::uint64_t>(location.out * location.in) * sizeof(float);
    if (first == 0 && shouldKeep(key, bytes, Part::of_all_tokens))
        return keep(key, decode(location), Part::of_all_tokens).narrow(0, first, count);
    return decodeRows(*store_, store_->tensor(location.tensor),
                      location.index.value_or(0) * location.out + first, count);
}

}  // namespace roper
