#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/pretrained/element_types/element_type.h"

namespace roper {

class TensorStore;

/// A matrix stored in several tensors, for example integers and their scales.
class QuantizedMatrix {
  public:
    virtual ~QuantizedMatrix() = default;

    /// Decodes `rows` rows from row `first` on, as `TensorStore::readRows`. Thread-safe.
    /// @throws Error (checkpoint), Error (disk)
    virtual void decodeRows(const TensorStore& store, std::int64_t first, std::int64_t rows,
                            std::span<float> out) const = 0;
};

/// A tensor in a file.
struct StoredTensor {
    ElementType type = ElementType::F32;
    std::vector<std::int64_t> shape;  ///< row-major: the last dimension is contiguous and in whole blocks
    std::size_t file = 0;             ///< index in the store (`TensorStore::addFile`)
    std::uint64_t offset = 0;         ///< offset of the first byte
    /// If set, the numbers come from this matrix and count as F32; `file` is then used only in messages.
    std::shared_ptr<const QuantizedMatrix> quantized = {};

    std::int64_t count() const;     ///< elements
    std::uint64_t bytes() const;    ///< as stored
    std::string shapeText() const;  ///< "576 × 49152"
};

/// The tensors of a model by name, in one or several files. They stay in their files and are read on demand
/// with pread rather than mmap, so that a file truncated meanwhile causes an error rather than a crash.
class TensorStore {
  public:
    /// Opens a file whose tensors are then declared by `add`. @returns its index in this store
    /// @throws Error (disk)
    std::size_t addFile(const FilePath& path);

    /// The same for bytes in memory. @param name  the name in messages
    std::size_t addBytes(const std::string& name, std::vector<std::byte> bytes);

    /// Size in bytes.
    std::uint64_t sizeOfFile(std::size_t file) const { return files_[file].size; }
    std::uint64_t sizeOfFiles() const;  ///< of all together
    const std::string& pathOfFile(std::size_t file) const { return files_[file].path; }

    /// Fills `into` with the bytes of a file from offset `offset`.
    /// @throws Error (checkpoint) if the file ends too early, Error (disk) if it cannot be read
    void readBytes(std::size_t file, std::uint64_t offset, std::span<std::byte> into) const;

    /// @throws std::invalid_argument for a duplicate name, a row that is not a whole number of blocks, or a
    /// tensor beyond the end of its file; the message does not name the tensor
    void add(const std::string& name, StoredTensor tensor);

    /// @throws std::invalid_argument naming two tensors that overlap in a file
    void requireNoOverlap() const;

    /// Records a tensor whose type no parameter can have: error messages name it, and it may be a part of a
    /// quantized matrix.
    void addUnsupported(const std::string& name, const std::string& type, StoredTensor tensor) {
        unsupported_[name] = {type, std::move(tensor)};
    }
    struct UnsupportedTensor {
        std::string type;
        StoredTensor tensor;
    };
    const std::map<std::string, UnsupportedTensor>& unsupportedTensors() const { return unsupported_; }
    /// @throws Error (checkpoint) "FILE: the tensor NAME is stored as U8, which is not supported …"
    [[noreturn]] void refuseUnsupported(const std::string& name) const;
    /// @throws Error (checkpoint) "FILE: the tensor NAME WHY"; the tensor need not be in the store
    [[noreturn]] void refuse(const std::string& name, const StoredTensor& tensor,
                             const std::string& why) const;

    /// Names of all tensors, unsupported ones included, that have this ending; returned without it, sorted.
    std::vector<std::string> namesWithoutSuffix(std::string_view ending) const;

    /// Removes and returns a tensor, possibly an unsupported one, that becomes part of a quantized matrix;
    /// nullopt if there is none of this name.
    std::optional<StoredTensor> extract(const std::string& name);

    /// Adds a matrix composed of tensors returned by `extract`.
    /// @throws std::invalid_argument for a duplicate name
    void addQuantized(const std::string& name, std::vector<std::int64_t> shape, std::size_t file,
                      std::shared_ptr<const QuantizedMatrix> matrix);

    bool has(const std::string& name) const { return tensors_.count(name) > 0; }
    const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

    /// @throws Error (checkpoint) naming the model and the missing tensor
    const StoredTensor& tensor(const std::string& name) const;

    /// Decodes `rows` rows of a tensor from row `first` on to float32. A row is the last dimension; all other
    /// dimensions are flattened.
    /// @param out  rows · last dimension elements
    /// @throws Error (checkpoint), Error (disk); std::invalid_argument for rows out of range
    void readRows(const StoredTensor& tensor, std::int64_t first, std::int64_t rows,
                  std::span<float> out) const;
    /// All numbers of a tensor.
    std::vector<float> readAll(const StoredTensor& tensor) const;

    /// The bytes of such rows as stored, or as float32 if the tensor is a quantized matrix.
    std::vector<std::byte> readRowBytes(const StoredTensor& tensor, std::int64_t first,
                                        std::int64_t rows) const;

  private:
    struct File {
        std::string path;
        Descriptor descriptor;
        std::uint64_t size = 0;
        std::vector<std::byte> bytes = {};  ///< if not empty, used instead of the file
    };
    std::vector<File> files_;
    std::map<std::string, StoredTensor> tensors_;
    std::map<std::string, UnsupportedTensor> unsupported_;
};

}  // namespace roper
