#include "core/pretrained/gguf_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <regex>
#include <stdexcept>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/text.h"

static_assert(std::endian::native == std::endian::little, "GGUF files are read as little-endian");

namespace roper {
namespace {

constexpr std::uint64_t kMaxEntries = 1U << 16U, kMaxTensors = 1U << 20U, kMaxListLength = 1U << 23U,
                        kMaxNameLength = 1024, kMaxDimensions = 4;
constexpr std::uint64_t kDefaultAlignment = 32;
/// Bytes of the smallest entry (an empty key and a flag), and of the smallest tensor description (no name, no
/// dimensions).
constexpr std::uint64_t kMinEntryBytes = 13, kMinTensorBytes = 24;

/// Value types of metadata, numbered as in the file.
enum class ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, list, u64, i64, f64 };

/// Bytes of the smallest value of each type. A text may be empty, but its length always takes eight bytes.
constexpr std::uint64_t kLeastBytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 8, 8, 8, 8};
static_assert(std::size(kLeastBytes) == static_cast<std::size_t>(ValueType::f64) + 1);

/// Reads a header from its beginning, through a buffer.
class HeaderBytes {
  public:
    HeaderBytes(const TensorStore& store, std::size_t file)
        : store_(store), file_(file), size_(store.sizeOfFile(file)) {}

    std::uint64_t offset() const { return offset_; }

    /// @throws std::invalid_argument if the header ends too early or is longer than allowed
    void readInto(std::span<std::byte> into) {
        requireAvailable(into.size());
        std::size_t filled = 0;
        while (filled < into.size()) {
            if (offset_ < begin_ || offset_ >= begin_ + buffer_.size()) fill();
            const auto from = static_cast<std::size_t>(offset_ - begin_);
            const std::size_t count = std::min(into.size() - filled, buffer_.size() - from);
            std::memcpy(into.data() + filled, buffer_.data() + from, count);
            filled += count;
            offset_ += count;
        }
    }

    /// @throws std::invalid_argument if that many items of at least `least_bytes` bytes cannot fit
    void requireItemsAvailable(std::uint64_t count, std::uint64_t least_bytes) const {
        requireAvailable(count <= GgufFile::kMaxHeaderBytes ? count * least_bytes
                                                            : GgufFile::kMaxHeaderBytes + 1);
    }

    template <class Number>
    Number number() {
        std::array<std::byte, sizeof(Number)> bytes;
        readInto(bytes);
        return std::bit_cast<Number>(bytes);
    }

    /// Reads a length and then that many bytes of text.
    std::string text(std::uint64_t longest) {
        const auto length = number<std::uint64_t>();
        if (length > longest)
            throw std::invalid_argument("a string has a length of " + std::to_string(length) +
                                        " bytes, more than " + std::to_string(longest));
        requireAvailable(length);  // before allocating memory
        std::string text(length, '\0');
        readInto(std::as_writable_bytes(std::span(text)));
        return text;
    }

    void requireAvailable(std::uint64_t bytes) const {
        if (offset_ > size_ || bytes > size_ - offset_)
            throw std::invalid_argument("the file ends inside its header, after " + std::to_string(size_) +
                                        " bytes");
        if (bytes > GgufFile::kMaxHeaderBytes - std::min(offset_, GgufFile::kMaxHeaderBytes))
            throw std::invalid_argument("its header is longer than " +
                                        formatBytes(static_cast<double>(GgufFile::kMaxHeaderBytes)));
    }

  private:
    void fill() {
        constexpr std::uint64_t kBufferBytes = 1U << 16U;
        begin_ = offset_;
        buffer_.resize(static_cast<std::size_t>(std::min(kBufferBytes, size_ - offset_)));
        store_.readBytes(file_, begin_, buffer_);
    }

    const TensorStore& store_;
    std::size_t file_;
    std::uint64_t size_, offset_ = 0, begin_ = 0;
    std::vector<std::byte> buffer_;
};

}  // namespace

/// Reads one file from its beginning to the end of its header.
struct GgufReader {
    HeaderBytes bytes;
    std::string at = "its beginning";  ///< the part being read, for messages

    using Value = GgufMetadata::Value;

    std::int64_t integer(ValueType type) {
        switch (type) {
            case ValueType::u8:
                return bytes.number<std::uint8_t>();
            case ValueType::i8:
                return bytes.number<std::int8_t>();
            case ValueType::u16:
                return bytes.number<std::uint16_t>();
            case ValueType::i16:
                return bytes.number<std::int16_t>();
            case ValueType::u32:
                return bytes.number<std::uint32_t>();
            case ValueType::i32:
                return bytes.number<std::int32_t>();
            case ValueType::i64:
                return bytes.number<std::int64_t>();
            default: {
                const auto number = bytes.number<std::uint64_t>();
                if (number > static_cast<std::uint64_t>(INT64_MAX))
                    throw std::invalid_argument("contains a number of 2⁶³ or more");
                return static_cast<std::int64_t>(number);
            }
        }
    }

    bool flag() {
        const auto byte = bytes.number<std::uint8_t>();
        if (byte > 1) throw std::invalid_argument("contains a flag that is neither 0 nor 1");
        return byte == 1;
    }

    double number(ValueType type) {
        return type == ValueType::f32 ? static_cast<double>(bytes.number<float>()) : bytes.number<double>();
    }

    std::string text() { return bytes.text(GgufFile::kMaxHeaderBytes); }

    /// Calls `use` with a function that reads one value of this type, which is not a list.
    template <class Use>
    Value withReaderOf(ValueType type, const Use& use) {
        switch (type) {
            case ValueType::flag:
                return use([&] { return flag(); });
            case ValueType::f32:
            case ValueType::f64:
                return use([&] { return number(type); });
            case ValueType::text:
                return use([&] { return text(); });
            default:
                return use([&] { return integer(type); });
        }
    }

    Value list() {
        const ValueType type = valueType();
        if (type == ValueType::list)
            throw std::invalid_argument("is a list of lists, which is not supported");
        const auto count = bytes.number<std::uint64_t>();
        if (count > kMaxListLength)
            throw std::invalid_argument("is a list with a length of " + std::to_string(count) +
                                        ", more than " + std::to_string(kMaxListLength));
        // before allocating memory
        bytes.requireItemsAvailable(count, kLeastBytes[static_cast<std::size_t>(type)]);
        return withReaderOf(type, [&](auto read) {
            std::vector<std::invoke_result_t<decltype(read)>> values;
            values.reserve(static_cast<std::size_t>(count));
            for (std::uint64_t i = 0; i < count; ++i)
                values.push_back(read());
            return Value(std::move(values));
        });
    }

    ValueType valueType() {
        const auto type = bytes.number<std::uint32_t>();
        if (type > static_cast<std::uint32_t>(ValueType::f64))
            throw std::invalid_argument("is of type " + std::to_string(type) + ", which GGUF does not have");
        return static_cast<ValueType>(type);
    }

    void readEntry(GgufMetadata& metadata) {
        at = "entry " + std::to_string(metadata.entries_.size() + 1);
        const std::string key = bytes.text(kMaxNameLength);
        at = "the entry " + toSingleLine(key);
        const ValueType type = valueType();
        Value value =
            type == ValueType::list ? list() : withReaderOf(type, [](auto read) { return Value(read()); });
        if (!metadata.entries_.emplace(key, std::move(value)).second)
            throw std::invalid_argument("occurs twice");
    }

    struct NamedTensor {
        std::string name;
        StoredTensor tensor;
    };

    /// Reads a tensor's description. Its offset is relative to the first byte of tensor data.
    NamedTensor readTensor(std::uint64_t number) {
        at = "tensor " + std::to_string(number);
        NamedTensor read{bytes.text(kMaxNameLength), {}};
        at = "the tensor " + toSingleLine(read.name);
        const auto dimensions = bytes.number<std::uint32_t>();
        if (dimensions > kMaxDimensions)
            throw std::invalid_argument("has " + std::to_string(dimensions) + " dimensions, more than 4");
        for (std::uint32_t i = 0; i < dimensions; ++i)
            read.tensor.shape.push_back(integer(ValueType::u64));
        std::reverse(read.tensor.shape.begin(), read.tensor.shape.end());
        const auto type = bytes.number<std::uint32_t>();
        const auto known = elementTypeOfGguf(type);
        if (!known)
            throw std::invalid_argument(
                "is stored as " + ggufTypeName(type) +
                ", which is not supported: use the model in F16, BF16, Q8_0, Q4_K or another common type");
        read.tensor.type = *known;
        read.tensor.offset = bytes.number<std::uint64_t>();
        return read;
    }
};

template <class Type>
const Type* GgufMetadata::find(const std::string& key, const char* what) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    const Type* const value = std::get_if<Type>(&found->second);
    if (value == nullptr) refuse(key, std::string("is not ") + what);
    return value;
}

void GgufMetadata::refuse(const std::string& key, const std::string& why) const {
    throw Error(ErrorKind::checkpoint, origin_ + ": the entry " + toSingleLine(key) + " " + why);
}

template <class Number>
const Number* GgufMetadata::commonValue(const std::string& key, std::int64_t layers) const {
    const auto found = entries_.find(key);
    if (found == entries_.end() || layers == 0) return nullptr;
    const auto* const list = std::get_if<std::vector<Number>>(&found->second);
    if (list == nullptr) return nullptr;
    if (list->size() != static_cast<std::size_t>(layers))
        refuse(key, "is a list of " + std::to_string(list->size()) + " numbers for " +
                        std::to_string(layers) + " layers");
    const auto shown = [](Number one) {
        if constexpr (std::is_integral_v<Number>)
            return std::to_string(one);
        else
            return formatNumber(one);
    };
    const auto other =
        std::find_if(list->begin(), list->end(), [&](Number one) { return one != list->front(); });
    if (other != list->end())
        refuse(key, "is " + shown(list->front()) + " in layer 0 and " + shown(*other) + " in layer " +
                        std::to_string(other - list->begin()) +
                        "; layers that differ in it are not supported");
    return &list->front();
}

std::optional<std::int64_t> GgufMetadata::integer(const std::string& key, std::int64_t min_value,
                                                  std::int64_t max_value, std::int64_t layers) const {
    const auto* value = commonValue<std::int64_t>(key, layers);
    if (value == nullptr) value = find<std::int64_t>(key, "a whole number");
    if (value == nullptr) return std::nullopt;
    if (*value < min_value || *value > max_value)
        refuse(key, "is " + std::to_string(*value) + "; it must be " + std::to_string(min_value) + " to " +
                        std::to_string(max_value));
    return *value;
}

std::optional<double> GgufMetadata::number(const std::string& key, double min_value, double max_value,
                                           std::int64_t layers) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    double value = 0;
    if (const auto* const one = commonValue<double>(key, layers))
        value = *one;
    else if (const auto* const of_all = commonValue<std::int64_t>(key, layers))
        value = static_cast<double>(*of_all);
    else if (const auto* const integer = std::get_if<std::int64_t>(&found->second))
        value = static_cast<double>(*integer);
    else
        value = *find<double>(key, "a number");
    if (!(value >= min_value && value <= max_value))
        refuse(key, "is " + formatNumber(value) + "; it must be " + formatNumber(min_value) + " to " +
                        formatNumber(max_value));
    return value;
}

std::optional<bool> GgufMetadata::flag(const std::string& key) const {
    const bool* const value = find<bool>(key, "a flag");
    return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::string> GgufMetadata::text(const std::string& key) const {
    const auto* const value = find<std::string>(key, "a text");
    return value == nullptr ? std::nullopt : std::optional(*value);
}

const std::vector<std::string>* GgufMetadata::texts(const std::string& key) const {
    return find<std::vector<std::string>>(key, "a list of texts");
}

const std::vector<std::int64_t>* GgufMetadata::integers(const std::string& key) const {
    return find<std::vector<std::int64_t>>(key, "a list of whole numbers");
}

const std::vector<double>* GgufMetadata::numbers(const std::string& key) const {
    return find<std::vector<double>>(key, "a list of numbers");
}

const std::vector<bool>* GgufMetadata::flags(const std::string& key) const {
    return find<std::vector<bool>>(key, "a list of flags");
}

namespace {

/// Reads the header of one file: returns its metadata, and adds its tensors to the store.
GgufMetadata readPart(const FilePath& path, TensorStore& store) {
    const std::size_t file = store.addFile(path);
    GgufMetadata metadata(path.string());
    GgufReader reader{HeaderBytes(store, file)};
    HeaderBytes& bytes = reader.bytes;
    try {
        std::array<char, 4> magic{};
        bytes.readInto(std::as_writable_bytes(std::span(magic)));
        if (std::string_view(magic.data(), magic.size()) != kGgufMagic)
            throw std::invalid_argument("does not begin with GGUF, so it is not a GGUF file");
        const auto version = bytes.number<std::uint32_t>();
        if (version != 2 && version != 3)
            throw std::invalid_argument("has version " + std::to_string(version) +
                                        "; only versions 2 and 3, little-endian, are supported");
        const auto tensors = bytes.number<std::uint64_t>(), entries = bytes.number<std::uint64_t>();
        if (tensors > kMaxTensors || entries > kMaxEntries)
            throw std::invalid_argument("claims " + std::to_string(tensors) + " tensors and " +
                                        std::to_string(entries) + " entries, more than any model has");
        bytes.requireItemsAvailable(tensors, kMinTensorBytes);
        bytes.requireItemsAvailable(entries, kMinEntryBytes);
        for (std::uint64_t i = 0; i < entries; ++i)
            reader.readEntry(metadata);
        bytes.requireItemsAvailable(tensors, kMinTensorBytes);
        std::vector<GgufReader::NamedTensor> read;
        for (std::uint64_t i = 0; i < tensors; ++i)
            read.push_back(reader.readTensor(i + 1));
        reader.at = "the entry general.alignment";
        const auto alignment = static_cast<std::uint64_t>(
            metadata.integer("general.alignment", 1, 1 << 20).value_or(kDefaultAlignment));
        const std::uint64_t data = (bytes.offset() + alignment - 1) / alignment * alignment;
        for (GgufReader::NamedTensor& next : read) {
            reader.at = "the tensor " + toSingleLine(next.name);
            if (next.tensor.offset % alignment != 0)
                throw std::invalid_argument("begins at an offset that is not a multiple of " +
                                            std::to_string(alignment));
            if (next.tensor.offset > store.sizeOfFile(file))
                throw std::invalid_argument("begins beyond the end of the file");
            next.tensor.file = file;
            next.tensor.offset += data;
            store.add(next.name, std::move(next.tensor));
        }
        reader.at = "its tensors";
        store.requireNoOverlap();
    } catch (const std::invalid_argument& error) {
        throw Error(ErrorKind::checkpoint,
                    path.string() + " cannot be read as a GGUF file: " + reader.at + ": " + error.what());
    }
    return metadata;
}

constexpr const char *kPartNumber = "split.no", *kPartCount = "split.count",
                     *kAllTensors = "split.tensors.count";
constexpr std::int64_t kMaxParts = 4096;

std::string fiveDigits(std::int64_t number) {
    const std::string plain = std::to_string(number);
    return std::string(5 - std::min<std::size_t>(5, plain.size()), '0') + plain;
}

/// The files of a split model, named NAME-00001-of-00003.gguf; empty if `path` is not named like that.
std::vector<FilePath> partsBeside(const FilePath& path, std::int64_t parts) {
    const std::string name = path.path().filename().string();
    const std::regex named_so("(.*)-([0-9]{5})-of-([0-9]{5})\\.gguf");
    std::smatch match;
    if (!std::regex_match(name, match, named_so) || std::stoll(match[3]) != parts) return {};
    std::vector<FilePath> files;
    for (std::int64_t part = 1; part <= parts; ++part)
        files.push_back(
            FilePath::regular(path.path().parent_path() / (match[1].str() + "-" + fiveDigits(part) + "-of-" +
                                                           fiveDigits(parts) + ".gguf")));
    return files;
}

/// Reads all parts of a split model into one store; the first part holds the metadata.
GgufFile readParts(const FilePath& named, std::int64_t parts) {
    const auto refuse = [](const std::string& what) { throw Error(ErrorKind::checkpoint, what); };
    const std::vector<FilePath> files = partsBeside(named, parts);
    if (files.empty())
        refuse(named.string() + " is one of " + std::to_string(parts) +
               " parts of a model: put all parts into one folder, named NAME-" + fiveDigits(1) + "-of-" +
               fiveDigits(parts) + ".gguf and so on");
    GgufFile file{GgufMetadata(files.front().string()), std::make_shared<TensorStore>()};
    std::optional<std::int64_t> tensors;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::string which = "part " + std::to_string(i + 1) + " of " + std::to_string(parts);
        if (!pathExists(files[i]))
            refuse(named.string() + " is one of " + std::to_string(parts) + " parts of a model; " + which +
                   ", " + files[i].string() + ", is missing: all parts must be in one folder");
        GgufMetadata metadata = readPart(files[i], *file.tensors);
        if (metadata.integer(kPartNumber, 0, kMaxParts).value_or(-1) != static_cast<std::int64_t>(i))
            metadata.refuse(kPartNumber,
                            "does not say " + std::to_string(i) + ", though the file is named " + which);
        if (metadata.integer(kPartCount, 0, kMaxParts).value_or(0) != parts)
            metadata.refuse(kPartCount, "does not say " + std::to_string(parts) + " as in " + named.string());
        const auto declared = metadata.integer(kAllTensors, 0, kMaxTensors);
        if (i > 0 && declared != tensors)
            metadata.refuse(kAllTensors, "differs from that of " + files.front().string() +
                                             ": these parts belong to different models");
        tensors = declared;
        if (i == 0) file.metadata = std::move(metadata);
    }
    const auto read = static_cast<std::int64_t>(file.tensors->tensors().size());
    if (tensors && *tensors != read)
        file.metadata.refuse(kAllTensors, "is " + std::to_string(*tensors) +
                                              ", but all parts together have " + std::to_string(read));
    return file;
}

}  // namespace

GgufFile GgufFile::read(const FilePath& path) {
    auto store = std::make_shared<TensorStore>();
    GgufMetadata metadata = readPart(path, *store);
    const std::int64_t parts = metadata.integer(kPartCount, 0, kMaxParts).value_or(0);
    if (parts > 1) return readParts(path, parts);
    return {std::move(metadata), std::move(store)};
}

}  // namespace roper
