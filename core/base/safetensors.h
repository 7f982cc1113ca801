#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/durable_file.h"
#include "core/base/file_path.h"

namespace roper {

/// Element types of the safetensors format that RoPER Lab writes or reads.
enum class Dtype { F64, F32, F16, BF16, F8_E4M3, F8_E5M2, F8_E8M0, I64, I32, I8, U32, U8, Bool };

std::string dtypeName(Dtype dtype);
/// Bytes of an element.
std::size_t dtypeSize(Dtype dtype);

/// A tensor to be written: row-major, little-endian.
struct TensorToWrite {
    std::string name;
    Dtype dtype;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// An entry of the metadata as it will be read: in place of what is no UTF-8 stands U+FFFD.
std::string asStored(const std::string& entry);

/// Writes a safetensors file so that the path holds the old file or the new one, never a part.
/// @throws Error (disk); std::invalid_argument if a name occurs twice or bytes do not fit shape and type
void writeSafetensors(const FilePath& path, const std::vector<TensorToWrite>& tensors,
                      const std::map<std::string, std::string>& metadata);

/// A tensor that is written as it is made, so that memory never holds the whole of it.
struct StreamedTensor {
    std::string name;
    Dtype dtype;
    std::vector<std::int64_t> shape;
    std::function<void(const AppendBytes&)> write;  ///< appends all of its bytes, in order
};

/// The same of tensors that are written one after the other.
/// @throws std::invalid_argument also if a tensor wrote more or fewer bytes than its shape has; the file is
/// then not made
void writeSafetensors(const FilePath& path, const std::vector<StreamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata);

/// The same as bytes.
std::string formatSafetensors(const std::vector<TensorToWrite>& tensors,
                              const std::map<std::string, std::string>& metadata);

/// The header of a safetensors file: what it holds and where.
struct SafetensorsHeader {
    struct Entry {
        Dtype dtype;
        std::vector<std::int64_t> shape;
        std::uint64_t begin, end;  ///< bytes, counted from the end of the header
    };
    std::map<std::string, Entry> tensors;
    std::map<std::string, std::string> metadata;
    std::uint64_t data_begin = 0;  ///< where the header ends

    /// Reads the header alone, and checks it against the file's size as `SafetensorsFile::read` does.
    /// @throws Error (checkpoint) saying what is wrong, Error (disk) if it cannot be read
    static SafetensorsHeader read(const FilePath& path);
};

/// A safetensors file, read whole and checked strictly: header of at most 100 MB that is one JSON object, no
/// key twice, known types, shape × size = bytes without overflow, tensors contiguous from 0 to the end of the
/// file.
class SafetensorsFile {
  public:
    struct Tensor {
        Dtype dtype;
        std::vector<std::int64_t> shape;
        std::span<const std::byte> bytes;
    };

    static constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();

    /// @param most_bytes  a larger file is refused before it is read
    /// @throws Error (checkpoint) saying what is wrong, Error (disk) if it cannot be read
    static SafetensorsFile read(const FilePath& path, std::uint64_t most_bytes);

    /// The same from memory; `origin` names it in errors.
    static SafetensorsFile parse(std::string content, const std::string& origin);

    const std::map<std::string, Tensor>& tensors() const { return tensors_; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    const std::string& origin() const { return origin_; }

    /// @throws Error (checkpoint) naming the file and the tensor or entry that is missing
    const Tensor& tensor(const std::string& name) const;
    const std::string& entry(const std::string& key) const;
    /// The same, or `otherwise` where there is none: files of older versions have fewer.
    std::string entryOr(const std::string& key, const std::string& otherwise) const;

  private:
    std::string origin_;
    // On the heap, so that the spans stay valid when the object moves.
    std::shared_ptr<const std::string> content_;
    std::map<std::string, Tensor> tensors_;
    std::map<std::string, std::string> metadata_;
};

}  // namespace roper
