#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/file_path.h"
#include "core/pretrained/element_type.h"

namespace roper {

/// A tensor in a file.
struct StoredTensor {
    ElementType type = ElementType::F32;
    std::vector<std::int64_t> shape;  ///< row-major: the last dimension is contiguous and in whole blocks
    std::size_t file = 0;             ///< which of the store's files
    std::uint64_t place = 0;          ///< of its first byte

    std::int64_t count() const;     ///< numbers
    std::uint64_t bytes() const;    ///< as stored
    std::string shapeText() const;  ///< "576 × 49152"
};

/// The tensors of a model by name, in one file or several. They stay in their files and are read when they
/// are wanted, by pread rather than a mapping, so that a file that is cut meanwhile gives an error.
class TensorStore {
  public:
    /// An open file whose tensors follow by `add`. @returns its number in this store
    /// @throws Error (disk)
    std::size_t addFile(const FilePath& path);

    /// The same for bytes in memory, which need no file. @param name  what messages call them
    std::size_t addBytes(const std::string& name, std::vector<std::byte> bytes);

    std::uint64_t sizeOfFile(std::size_t file) const { return files_[file].size; }
    const std::string& pathOfFile(std::size_t file) const { return files_[file].path; }

    /// Bytes of a file from a place on, `into` full.
    /// @throws Error (checkpoint) if the file ends before that, Error (disk) if it cannot be read
    void readBytes(std::size_t file, std::uint64_t place, std::span<std::byte> into) const;

    /// @throws std::invalid_argument for a name that is there, a row that is no whole number of blocks, or a
    /// tensor that lies beyond the end of its file; the message does not name the tensor
    void add(const std::string& name, StoredTensor tensor);

    /// @throws std::invalid_argument naming two tensors that share bytes of a file
    void requireApart() const;

    /// A tensor that stands in a file and is not read, with the type that it is stored as.
    void leaveOut(const std::string& name, const std::string& type, std::size_t file) {
        left_out_[name] = {type, file};
    }
    struct LeftOut {
        std::string type;
        std::size_t file = 0;
    };
    const std::map<std::string, LeftOut>& leftOut() const { return left_out_; }
    /// "FILE: the tensor NAME is stored as U8, which is not read here …"
    Error notRead(const std::string& name) const;

    bool has(const std::string& name) const { return tensors_.count(name) > 0; }
    const std::map<std::string, StoredTensor>& tensors() const { return tensors_; }

    /// @throws Error (checkpoint) naming the model and the tensor that is missing
    const StoredTensor& tensor(const std::string& name) const;

    /// Rows of a tensor as float32: `rows` of them from `first` on, where a row is the last dimension and all
    /// others are counted together.
    /// @param out  rows · last dimension numbers
    /// @throws Error (checkpoint), Error (disk); std::invalid_argument for rows that the tensor lacks
    void readRows(const StoredTensor& tensor, std::int64_t first, std::int64_t rows,
                  std::span<float> out) const;

    /// The bytes of such rows as they are stored, to be decoded later.
    std::vector<std::byte> rowBytes(const StoredTensor& tensor, std::int64_t first, std::int64_t rows) const;

  private:
    struct File {
        std::string path;
        Descriptor descriptor;
        std::uint64_t size = 0;
        std::vector<std::byte> bytes = {};  ///< in place of the file
    };
    std::vector<File> files_;
    std::map<std::string, StoredTensor> tensors_;
    std::map<std::string, LeftOut> left_out_;
};

}  // namespace roper
