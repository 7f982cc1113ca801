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
/// Bytes per element.
std::size_t dtypeSize(Dtype dtype);

/// A tensor to be written: row-major, little-endian. Its bytes are in memory, or are produced while they are
/// written, so that memory never holds all of them.
struct TensorToWrite {
    std::string name;
    Dtype dtype;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes = {};
    /// Appends the bytes in order; if set, `bytes` is unused.
    std::function<void(const AppendBytes&)> produce = {};

    void appendTo(const AppendBytes& append) const { produce ? produce(append) : append(bytes); }
};

/// A metadata entry as it will be read back: invalid UTF-8 is replaced by U+FFFD.
std::string withValidUtf8(const std::string& entry);

/// Writes a safetensors file atomically: the path holds the old or the new file, never a part.
/// @throws Error (disk); std::invalid_argument if a name is duplicated or the bytes do not match shape and
/// type, in which case no file is created
void writeSafetensors(const FilePath& path, const std::vector<TensorToWrite>& tensors,
                      const std::map<std::string, std::string>& metadata);

/// The same, returned as bytes.
std::string formatSafetensors(const std::vector<TensorToWrite>& tensors,
                              const std::map<std::string, std::string>& metadata);

/// The header of a safetensors file: its entries and their positions.
struct SafetensorsHeader {
    struct Entry {
        Dtype dtype;
        std::vector<std::int64_t> shape;
        std::uint64_t begin, end;  ///< byte range, relative to the end of the header
    };
    std::map<std::string, Entry> tensors;
    std::map<std::string, std::string> metadata;
    std::uint64_t data_begin = 0;  ///< offset in the file at which the header ends

    /// Reads only the header, and checks it against the file's size like `SafetensorsFile::read`.
    /// @throws Error (checkpoint) saying what is wrong, Error (disk) if the file cannot be read
    static SafetensorsHeader read(const FilePath& path);
};

/// A safetensors file, read completely and validated strictly: the header is one JSON object of at most 100
/// MB without duplicate keys, types are known, each byte range fits its shape and type without overflow, and
/// the tensors fill the rest of the file without gaps.
class SafetensorsFile {
  public:
    struct Tensor {
        Dtype dtype;
        std::vector<std::int64_t> shape;
        std::span<const std::byte> bytes;
    };

    static constexpr std::uint64_t kUnlimitedSize = std::numeric_limits<std::uint64_t>::max();

    /// @param max_bytes  larger files are refused before they are read
    /// @throws Error (checkpoint) saying what is wrong, Error (disk) if the file cannot be read
    static SafetensorsFile read(const FilePath& path, std::uint64_t max_bytes);

    /// The same from memory; `origin` is the name used in errors.
    static SafetensorsFile parse(std::string content, const std::string& origin);

    const std::map<std::string, Tensor>& tensors() const { return tensors_; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }
    const std::string& origin() const { return origin_; }

    /// @throws Error (checkpoint) naming the file and the missing tensor or entry
    const Tensor& tensor(const std::string& name) const;
    const std::string& entry(const std::string& key) const;
    /// The same, or `fallback` if the entry is missing: files of older versions have fewer.
    std::string entryOr(const std::string& key, const std::string& fallback) const;

  private:
    std::string origin_;
    // On the heap, so that spans remain valid when the object is moved.
    std::shared_ptr<const std::string> content_;
    std::map<std::string, Tensor> tensors_;
    std::map<std::string, std::string> metadata_;
};

}  // namespace roper
