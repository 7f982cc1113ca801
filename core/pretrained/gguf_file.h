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

/// What a GGUF file says about its model, by key: whole numbers and numbers of any width, flags, texts, and
/// lists of one of these.
class GgufMetadata {
  public:
    using Value = std::variant<bool, std::int64_t, double, std::string, std::vector<bool>,
                               std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

    explicit GgufMetadata(std::string origin) : origin_(std::move(origin)) {}

    const std::string& origin() const { return origin_; }
    const std::map<std::string, Value>& entries() const { return entries_; }
    bool has(const std::string& key) const { return entries_.count(key) > 0; }

    // Nothing for a key that is not there. @throws Error (checkpoint) naming file and key if it is of another
    // type or out of bounds.
    // `layers` numbers that are all the same count as one.
    std::optional<std::int64_t> whole(const std::string& key, std::int64_t least, std::int64_t most,
                                      std::int64_t layers = 0) const;
    std::optional<double> number(const std::string& key, double least, double most,
                                 std::int64_t layers = 0) const;
    std::optional<bool> flag(const std::string& key) const;
    std::optional<std::string> text(const std::string& key) const;
    const std::vector<std::string>* texts(const std::string& key) const;
    const std::vector<std::int64_t>* wholes(const std::string& key) const;
    const std::vector<double>* numbers(const std::string& key) const;
    const std::vector<bool>* flags(const std::string& key) const;

    /// @throws Error (checkpoint): "FILE: the entry KEY WHY"
    [[noreturn]] void refuse(const std::string& key, const std::string& why) const;

  private:
    friend struct GgufReader;
    /// The number that a list by layer holds, if it is one. @throws Error (checkpoint) if its numbers differ
    template <class Number>
    const Number* oneOfAll(const std::string& key, std::int64_t layers) const;
    template <class Type>
    const Type* find(const std::string& key, const char* what) const;

    std::string origin_;
    std::map<std::string, Value> entries_;
};

/// The first bytes of a GGUF file, whatever it is called.
inline constexpr std::string_view kGgufMagic = "GGUF";

/// A GGUF file, versions 2 and 3, little-endian (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
/// Its header is read whole and checked strictly; tensors stay in the file.
struct GgufFile {
    GgufMetadata metadata;
    std::shared_ptr<TensorStore> tensors;  ///< shapes row-major, the other way round than the file has them

    /// What a header may hold: a vocabulary of a quarter of a million with all its merges is 15 MB.
    static constexpr std::uint64_t kLongestHeader = 64U << 20U;

    /// Of a model that was split into files NAME-00001-of-00003.gguf, whichever is named, all of them.
    /// @throws Error (checkpoint) saying what is wrong and where, Error (disk) if it cannot be read
    static GgufFile read(const FilePath& path);
};

}  // namespace roper
