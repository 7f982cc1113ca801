#include "core/base/safetensors.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

namespace roper {
namespace {

constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::string_view kMetadataKey = "__metadata__";

struct DtypeInfo {
    Dtype dtype;
    std::string_view name;
    std::size_t size;
};
constexpr std::array kDtypes = {
    DtypeInfo{Dtype::F64, "F64", 8},         DtypeInfo{Dtype::F32, "F32", 4},
    DtypeInfo{Dtype::F16, "F16", 2},         DtypeInfo{Dtype::BF16, "BF16", 2},
    DtypeInfo{Dtype::F8_E4M3, "F8_E4M3", 1}, DtypeInfo{Dtype::F8_E5M2, "F8_E5M2", 1},
    DtypeInfo{Dtype::F8_E8M0, "F8_E8M0", 1}, DtypeInfo{Dtype::I64, "I64", 8},
    DtypeInfo{Dtype::I32, "I32", 4},         DtypeInfo{Dtype::I8, "I8", 1},
    DtypeInfo{Dtype::U32, "U32", 4},         DtypeInfo{Dtype::U8, "U8", 1},
    DtypeInfo{Dtype::Bool, "BOOL", 1}};

/// Types of the format (safetensors 0.8) that cannot be read here.
constexpr std::string_view kOtherDtypes[] = {"F4",  "F6_E2M3", "F6_E3M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ",
                                             "I16", "U16",     "U64",     "C64"};

/// Thrown for a tensor of such a type, whose name is the message.
struct OtherDtype : std::runtime_error {
    using std::runtime_error::runtime_error;
};

const DtypeInfo& facts(Dtype dtype) {
    return *std::ranges::find(kDtypes, dtype, &DtypeInfo::dtype);
}

/// Size of a tensor in bytes; empty if a dimension is negative or the product overflows.
std::optional<std::uint64_t> byteCount(const std::vector<std::int64_t>& shape, Dtype dtype) {
    std::uint64_t count = facts(dtype).size;
    for (const std::int64_t dimension : shape) {
        if (dimension < 0) return std::nullopt;
        const auto factor = static_cast<std::uint64_t>(dimension);
        if (factor != 0 && count > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
        count *= factor;
    }
    return count;
}

using Json = nlohmann::json;

using Entry = SafetensorsHeader::Entry;

std::uint64_t offset(const Json& value) {
    if (!value.is_number_unsigned()) throw std::invalid_argument("an offset is not a non-negative integer");
    return value.get<std::uint64_t>();
}

Entry readEntry(const Json& entry) {
    if (!entry.is_object() || entry.size() != 3)
        throw std::invalid_argument("its entry must contain exactly dtype, shape and data_offsets");
    Entry placed{};
    const std::string dtype = entry.at("dtype").get<std::string>();
    const auto known = std::ranges::find(kDtypes, dtype, &DtypeInfo::name);
    if (known == kDtypes.end()) {
        if (hasElement(kOtherDtypes, dtype)) throw OtherDtype(dtype);
        throw std::invalid_argument("unknown dtype " + dtype);
    }
    placed.dtype = known->dtype;
    if (!entry.at("shape").is_array()) throw std::invalid_argument("its shape is not a list");
    for (const Json& dimension : entry.at("shape")) {
        if (!dimension.is_number_unsigned() ||
            dimension.get<std::uint64_t>() >
                static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            throw std::invalid_argument("a dimension is not a non-negative integer");
        placed.shape.push_back(dimension.get<std::int64_t>());
    }
    const Json& offsets = entry.at("data_offsets");
    if (!offsets.is_array() || offsets.size() != 2)
        throw std::invalid_argument("data_offsets must be two numbers");
    placed.begin = offset(offsets[0]);
    placed.end = offset(offsets[1]);
    const auto bytes = byteCount(placed.shape, placed.dtype);
    if (!bytes || placed.end < placed.begin || placed.end - placed.begin != *bytes)
        throw std::invalid_argument("its size does not match its shape and dtype");
    return placed;
}

/// Size of a tensor in bytes. @throws std::invalid_argument for an invalid shape
std::uint64_t sizeInFile(const TensorToWrite& tensor) {
    const auto bytes = byteCount(tensor.shape, tensor.dtype);
    if (!bytes) throw std::invalid_argument("tensor " + tensor.name + " has an invalid shape");
    return *bytes;
}

std::string makeHeader(const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata) {
    nlohmann::ordered_json header = nlohmann::ordered_json::object();
    if (!metadata.empty()) header[std::string(kMetadataKey)] = metadata;
    std::uint64_t position = 0;
    for (const TensorToWrite& tensor : tensors) {
        const std::uint64_t bytes = sizeInFile(tensor);
        if (header.contains(tensor.name)) throw std::invalid_argument("two tensors are named " + tensor.name);
        header[tensor.name] = {{"dtype", dtypeName(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"data_offsets", {position, position + bytes}}};
        position += bytes;
    }
    // Text generated by a model may end with an incomplete character.
    std::string text = jsonText(header);
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

Error invalidFile(const std::string& origin, const std::string& why) {
    return {ErrorKind::checkpoint, origin + " is not a valid safetensors file: " + why};
}

/// Size in bytes of the JSON header of a file with this beginning and `size` bytes.
std::uint64_t headerLength(std::string_view beginning, std::uint64_t size, const std::string& origin) {
    std::uint64_t length = 0;
    if (beginning.size() < sizeof length) throw invalidFile(origin, "it is shorter than 8 bytes");
    std::memcpy(&length, beginning.data(), sizeof length);
    if (length > kLongestHeader) throw invalidFile(origin, "its header claims to be larger than 100 MB");
    if (length > size - sizeof length) throw invalidFile(origin, "it ends inside its header");
    return length;
}

void requireBrace(std::string_view header, const std::string& origin) {
    if (!header.starts_with('{')) throw invalidFile(origin, "its header does not begin with '{'");
}

/// @param size  bytes of the whole file
SafetensorsHeader parseHeader(std::string_view text, std::uint64_t size, const std::string& origin) {
    requireBrace(text, origin);
    SafetensorsHeader header;
    header.data_begin = sizeof(std::uint64_t) + text.size();
    std::string at = "the header";
    try {
        const Json json = parseStrictJson(text);
        for (const auto& [name, entry] : json.items()) {
            at = name;
            if (name == kMetadataKey)
                header.metadata = entry.get<std::map<std::string, std::string>>();
            else
                header.tensors.emplace(name, readEntry(entry));
        }
    } catch (const OtherDtype& dtype) {
        throw Error(ErrorKind::checkpoint, origin + ": the tensor " + toSingleLine(at) + " is stored as " +
                                               dtype.what() + ", which is not supported");
    } catch (const Json::exception& error) {
        throw invalidFile(origin, at + ": " + jsonErrorMessage(error.what()));
    } catch (const std::invalid_argument& error) {
        throw invalidFile(origin, at + ": " + error.what());
    }

    std::vector<std::pair<const std::string*, const Entry*>> in_order;
    for (const auto& [name, entry] : header.tensors)
        in_order.emplace_back(&name, &entry);
    std::ranges::sort(in_order, [](const auto& a, const auto& b) {
        return std::tie(a.second->begin, a.second->end) < std::tie(b.second->begin, b.second->end);
    });
    const std::uint64_t data_size = size - header.data_begin;
    std::uint64_t expected = 0;
    for (const auto& [name, entry] : in_order) {
        if (entry->begin != expected || entry->end > data_size)
            throw invalidFile(
                origin,
                *name + ": its bytes overlap those of another tensor, leave a gap or lie beyond the end");
        expected = entry->end;
    }
    if (expected != data_size) throw invalidFile(origin, "it has bytes after its last tensor");
    return header;
}

}  // namespace

std::string withValidUtf8(const std::string& entry) {
    return Json::parse(jsonText(Json(entry))).get<std::string>();
}

std::size_t dtypeSize(Dtype dtype) {
    return facts(dtype).size;
}

std::string dtypeName(Dtype dtype) {
    return std::string(facts(dtype).name);
}

namespace {

/// @throws Error (checkpoint) naming the file and the missing member
template <class Member>
const Member& memberOf(const std::map<std::string, Member>& members, const std::string& key,
                       const std::string& origin, const char* what) {
    const auto found = members.find(key);
    if (found != members.end()) return found->second;
    throw Error(ErrorKind::checkpoint, origin + " has no " + what + " \"" + key + "\"");
}

void appendSafetensors(const std::vector<TensorToWrite>& tensors,
                       const std::map<std::string, std::string>& metadata, const AppendBytes& append) {
    const std::string header = makeHeader(tensors, metadata);
    const std::uint64_t length = header.size();
    append(std::as_bytes(std::span(&length, 1)));
    append(bytesOf(header));
    for (const TensorToWrite& tensor : tensors) {
        std::uint64_t written = 0;
        tensor.appendTo([&](std::span<const std::byte> bytes) {
            written += bytes.size();
            append(bytes);
        });
        if (written != sizeInFile(tensor))
            throw std::invalid_argument("bytes of tensor " + tensor.name + " do not match its shape");
    }
}

}  // namespace

void writeSafetensors(const FilePath& path, const std::vector<TensorToWrite>& tensors,
                      const std::map<std::string, std::string>& metadata) {
    writeFileAtomically(path,
                        [&](const AppendBytes& append) { appendSafetensors(tensors, metadata, append); });
}

std::string formatSafetensors(const std::vector<TensorToWrite>& tensors,
                              const std::map<std::string, std::string>& metadata) {
    std::string file;
    appendSafetensors(tensors, metadata, [&](std::span<const std::byte> bytes) {
        file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    return file;
}

SafetensorsFile SafetensorsFile::read(const FilePath& path, std::uint64_t max_bytes) {
    return parse(readFile(path, max_bytes), path.string());
}

SafetensorsHeader SafetensorsHeader::read(const FilePath& path) {
    const std::string origin = path.string();
    const Descriptor file = openFile(path, O_RDONLY);
    const std::uint64_t size = fileSize(file, origin);
    std::string beginning(sizeof(std::uint64_t) + 1, '\0');
    beginning.resize(readAt(file, beginning, 0, origin));
    const std::uint64_t length = headerLength(beginning, size, origin);
    requireBrace(beginning.substr(sizeof(std::uint64_t)), origin);  // before memory is allocated
    std::string header(length, '\0');
    if (readAt(file, header, sizeof(std::uint64_t), origin) != header.size())
        throw invalidFile(origin, "it ends inside its header");
    return parseHeader(header, size, origin);
}

SafetensorsFile SafetensorsFile::parse(std::string content, const std::string& origin) {
    SafetensorsFile file;
    file.origin_ = origin;
    file.content_ = std::make_shared<const std::string>(std::move(content));
    const std::string_view bytes = *file.content_;
    const std::uint64_t length = headerLength(bytes, bytes.size(), origin);
    SafetensorsHeader header = parseHeader(bytes.substr(sizeof length, length), bytes.size(), origin);
    file.metadata_ = std::move(header.metadata);
    const auto data = std::as_bytes(std::span(*file.content_)).subspan(header.data_begin);
    for (auto& [name, entry] : header.tensors)
        file.tensors_.emplace(name, Tensor{entry.dtype, std::move(entry.shape),
                                           data.subspan(entry.begin, entry.end - entry.begin)});
    return file;
}

const SafetensorsFile::Tensor& SafetensorsFile::tensor(const std::string& name) const {
    return memberOf(tensors_, name, origin_, "tensor");
}

const std::string& SafetensorsFile::entry(const std::string& key) const {
    return memberOf(metadata_, key, origin_, "entry");
}

std::string SafetensorsFile::entryOr(const std::string& key, const std::string& fallback) const {
    const auto found = metadata_.find(key);
    return found == metadata_.end() ? fallback : found->second;
}

}  // namespace roper
