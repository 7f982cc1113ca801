#include "core/pretrained/tensor_store.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Number of elements of a shape. @throws std::invalid_argument if it needs more than 60 bits
std::int64_t countOf(const std::vector<std::int64_t>& shape) {
    std::int64_t count = 1;
    for (const std::int64_t dimension : shape) {
        if (dimension < 0) throw std::invalid_argument("it has a negative dimension");
        if (dimension > 0 && count > (std::numeric_limits<std::int64_t>::max() >> 3) / dimension)
            throw std::invalid_argument("it is too large");
        count *= dimension;
    }
    return count;
}

std::int64_t rowOf(const StoredTensor& tensor) {
    return tensor.shape.empty() ? 1 : tensor.shape.back();
}

void requireRows(const StoredTensor& tensor, std::int64_t first, std::int64_t rows) {
    const std::int64_t row = rowOf(tensor), all = row == 0 ? 0 : tensor.count() / row;
    if (first < 0 || rows < 0 || first > all - rows)
        throw std::invalid_argument("rows " + std::to_string(first) + " to " +
                                    std::to_string(first + rows - 1) + " of a tensor of " +
                                    std::to_string(all));
}

}  // namespace

std::int64_t StoredTensor::count() const {
    return countOf(shape);
}

std::uint64_t StoredTensor::bytes() const {
    return static_cast<std::uint64_t>(count()) / elementsPerBlock(type) * bytesPerBlock(type);
}

std::string StoredTensor::shapeText() const {
    const auto parts = mapped(shape, [](std::int64_t dimension) { return std::to_string(dimension); });
    return parts.empty() ? "a single number" : join(parts, " × ");
}

std::size_t TensorStore::addFile(const FilePath& path) {
    Descriptor descriptor = openFile(path, O_RDONLY);
    const std::uint64_t size = fileSize(descriptor, path.string());
    files_.push_back({path.string(), std::move(descriptor), size});
    return files_.size() - 1;
}

std::size_t TensorStore::addBytes(const std::string& name, std::vector<std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    files_.push_back({name, {}, size, std::move(bytes)});
    return files_.size() - 1;
}

std::uint64_t TensorStore::sizeOfFiles() const {
    std::uint64_t size = 0;
    for (const File& file : files_)
        size += file.size;
    return size;
}

void TensorStore::readBytes(std::size_t file, std::uint64_t offset, std::span<std::byte> into) const {
    const File& from = files_[file];
    if (!from.bytes.empty() && offset <= from.size && into.size() <= from.size - offset) {
        std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
        return;
    }
    const std::span<char> chars(reinterpret_cast<char*>(into.data()), into.size());
    if (readAt(from.descriptor, chars, offset, from.path) != into.size())
        throw Error(ErrorKind::checkpoint,
                    from.path + " is cut short: it ends before byte " + std::to_string(offset + into.size()));
}

void TensorStore::add(const std::string& name, StoredTensor tensor) {
    const auto row = static_cast<std::uint64_t>(rowOf(tensor));
    if (row % elementsPerBlock(tensor.type) != 0)
        throw std::invalid_argument("its rows of " + std::to_string(row) +
                                    " numbers are not a whole number of blocks of " + nameOf(tensor.type));
    // At most eight bytes per number, so this does not overflow.
    const std::uint64_t bytes = tensor.bytes(), size = files_[tensor.file].size;
    if (tensor.offset > size || bytes > size - tensor.offset)
        throw std::invalid_argument("its " + formatBytes(static_cast<double>(bytes)) +
                                    " reach beyond the end of the file");
    if (!tensors_.emplace(name, std::move(tensor)).second)
        throw std::invalid_argument("another has the same name");
}

const StoredTensor& TensorStore::tensor(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    if (unsupported_.count(name) > 0) refuseUnsupported(name);
    throw Error(ErrorKind::checkpoint,
                (files_.empty() ? "the model" : files_.front().path) + " has no tensor \"" + name + "\"");
}

void TensorStore::refuseUnsupported(const std::string& name) const {
    const UnsupportedTensor& left_out = unsupported_.at(name);
    refuse(name, left_out.tensor,
           "is stored as " + left_out.type + ", which is not supported; use F32, F16, BF16 or FP8");
}

void TensorStore::refuse(const std::string& name, const StoredTensor& tensor, const std::string& why) const {
    throw Error(ErrorKind::checkpoint,
                files_[tensor.file].path + ": the tensor " + toSingleLine(name) + " " + why);
}

std::vector<std::string> TensorStore::namesWithoutSuffix(std::string_view ending) const {
    std::set<std::string> names;
    const auto note = [&](const std::string& name) {
        if (name.ends_with(ending)) names.insert(name.substr(0, name.size() - ending.size()));
    };
    for (const auto& [name, tensor] : tensors_)
        note(name);
    for (const auto& [name, tensor] : unsupported_)
        note(name);
    return {names.begin(), names.end()};
}

std::optional<StoredTensor> TensorStore::extract(const std::string& name) {
    if (auto node = tensors_.extract(name)) return std::move(node.mapped());
    if (auto node = unsupported_.extract(name)) return std::move(node.mapped().tensor);
    return std::nullopt;
}

void TensorStore::addQuantized(const std::string& name, std::vector<std::int64_t> shape, std::size_t file,
                               std::shared_ptr<const QuantizedMatrix> matrix) {
    countOf(shape);
    if (!tensors_.emplace(name, StoredTensor{ElementType::F32, std::move(shape), file, 0, std::move(matrix)})
             .second)
        throw std::invalid_argument("there are two matrices named " + toSingleLine(name) +
                                    ", one of them quantized");
}

void TensorStore::requireNoOverlap() const {
    std::vector<std::pair<const std::string*, const StoredTensor*>> all;
    for (const auto& [name, tensor] : tensors_)
        if (tensor.count() > 0) all.emplace_back(&name, &tensor);
    const auto offset = [](const auto& named) { return std::pair(named.second->file, named.second->offset); };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return offset(a) < offset(b); });
    for (std::size_t i = 1; i < all.size(); ++i) {
        const StoredTensor &before = *all[i - 1].second, &next = *all[i].second;
        if (before.file == next.file && before.offset + before.bytes() > next.offset)
            throw std::invalid_argument("the tensor " + toSingleLine(*all[i].first) +
                                        " shares bytes with the tensor " + toSingleLine(*all[i - 1].first));
    }
}

std::vector<std::byte> TensorStore::readRowBytes(const StoredTensor& tensor, std::int64_t first,
                                                 std::int64_t rows) const {
    const std::int64_t row = rowOf(tensor);
    requireRows(tensor, first, rows);
    if (tensor.quantized) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(rows * row) * sizeof(float));
        tensor.quantized->decodeRows(*this, first, rows,
                                     {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)});
        return bytes;
    }
    const std::uint64_t row_bytes =
        static_cast<std::uint64_t>(row) / elementsPerBlock(tensor.type) * bytesPerBlock(tensor.type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows) * row_bytes);
    readBytes(tensor.file, tensor.offset + static_cast<std::uint64_t>(first) * row_bytes, bytes);
    return bytes;
}

void TensorStore::readRows(const StoredTensor& tensor, std::int64_t first, std::int64_t rows,
                           std::span<float> out) const {
    if (!tensor.quantized) return decodeElements(tensor.type, readRowBytes(tensor, first, rows), out);
    requireRows(tensor, first, rows);
    if (static_cast<std::uint64_t>(rows * rowOf(tensor)) != out.size())
        throw std::invalid_argument("rows of a different size were requested");
    tensor.quantized->decodeRows(*this, first, rows, out);
}

std::vector<float> TensorStore::readAll(const StoredTensor& tensor) const {
    std::vector<float> all(static_cast<std::size_t>(tensor.count()));
    if (!all.empty()) readRows(tensor, 0, tensor.count() / rowOf(tensor), all);
    return all;
}

}  // namespace roper
