#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/file_path.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Metadata of a GGUF file by key: integers and floating-point numbers of any width, flags, texts, and lists
/// of these.
class GgufMetadata {
  public:
    using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<bool>,
                               std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

    explicit GgufMetadata(std::string origin) : origin_(std::move(origin)) {}

    /// Path of the file.
    const std::string& origin() const { return origin_; }
    const std::map<std::string, Value>& entries() const { return entries_; }
    bool has(const std::string& key) const { return entries_.count(key) > 0; }

    // Each of these returns nullopt or null if the key is missing. If `layers` > 0, a list of that many equal
    // numbers, one for each layer, counts as one number. @throws Error (checkpoint) naming the file and the
    // key, if the value has another type or is out of bounds.
    std::optional<std::int64_t> integer(const std::string& key, std::int64_t min_value,
                                        std::int64_t max_value, std::int64_t layers = 0) const;
    std::optional<double> number(const std::string& key, double min_value, double max_value,
                                 std::int64_t layers = 0) const;
    std::optional<bool> flag(const std::string& key) const;
    std::optional<std::string> text(const std::string& key) const;
    const std::vector<std::string>* texts(const std::string& key) const;
    const std::vector<std::int64_t>* integers(const std::string& key) const;
    const std::vector<double>* numbers(const std::string& key) const;
    const std::vector<bool>* flags(const std::string& key) const;

    /// @throws Error (checkpoint): "FILE: the entry KEY WHY"
    [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

  private:
    friend struct GgufReader;
    /// The number that all entries of a list of `layers` numbers share, if the value is such a list.
    /// @throws Error (checkpoint) if they differ
    template <class Number>
    const Number* commonValue(const std::string& key, std::int64_t layers) const;
    template <class Type>
    const Type* find(const std::string& key, const char* what) const;

    std::string origin_;
    std::map<std::string, Value> entries_;
};

/// The first bytes of every GGUF file.
inline constexpr std::string_view kGgufMagic = "GGUF";

/// A GGUF file, versions 2 and 3, little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
/// The header is read as a whole and checked strictly; tensors stay in the file.
struct GgufFile {
    GgufMetadata metadata;
    std::shared_ptr<TensorStore> tensors;  ///< shapes row-major, the reverse of the file's order

    /// Longest accepted header. A vocabulary of 250,000 tokens with all merges takes 15 MB.
    static constexpr std::uint64_t kMaxHeaderBytes = 64U << 20U;

    /// Reads a model. If it is split into NAME-00001-of-00003.gguf and so on, `path` may be any of the
    /// parts; all of them are read.
    /// @throws Error (checkpoint) saying what is wrong and where, Error (disk) if the file cannot be read
    static GgufFile read(const FilePath& path);
};

}  // namespace roper
