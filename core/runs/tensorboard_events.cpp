#include "core/runs/tensorboard_events.h"

#include <bit>
#include <boost/crc.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/text.h"
#include "core/runs/status.h"

namespace roper {
namespace {

// Fields of tensorflow's event.proto and summary.proto, as tag bytes: number << 3 | wire type.
constexpr char kEventWallTime = 1 << 3 | 1;
constexpr char kEventStep = 2 << 3 | 0;
constexpr char kEventFileVersion = 3 << 3 | 2;
constexpr char kEventSummary = 5 << 3 | 2;
constexpr char kEventSession = 7 << 3 | 2;
constexpr char kSessionStatus = 1 << 3 | 0;
constexpr char kSessionStart = 1;  // SessionLog.START
constexpr char kSummaryValue = 1 << 3 | 2;
constexpr char kValueTag = 1 << 3 | 2;
constexpr char kValueSimple = 2 << 3 | 5;
constexpr char kValueTensor = 8 << 3 | 2;
constexpr char kValueMetadata = 9 << 3 | 2;
// Fields of tensor.proto, tensor_shape.proto, and the plugins' data.
constexpr char kTensorType = 1 << 3 | 0;
constexpr char kTensorShape = 2 << 3 | 2;
constexpr char kTensorFloat = 5 << 3 | 2;
constexpr char kTensorString = 8 << 3 | 2;
constexpr char kShapeDimension = 2 << 3 | 2;
constexpr char kDimensionSize = 1 << 3 | 0;
constexpr char kMetadataPlugin = 1 << 3 | 2;
constexpr char kPluginName = 1 << 3 | 2;
constexpr char kPluginContent = 2 << 3 | 2;
constexpr char kHparamsStart = 3 << 3 | 2;
constexpr char kStartHparams = 1 << 3 | 2;
constexpr char kStartTime = 5 << 3 | 1;
constexpr char kMapKey = 1 << 3 | 2;
constexpr char kMapValue = 2 << 3 | 2;
constexpr char kStructNumber = 2 << 3 | 1;  // google.protobuf.Value
constexpr char kStructString = 3 << 3 | 2;
constexpr char kTensorContent = 4 << 3 | 2;
// Field numbers of a tensor's elements, which may be packed or not.
constexpr int kFloatValues = 5, kDoubleValues = 6, kIntValues = 7, kInt64Values = 10, kHalfValues = 13;
// DataType
constexpr char kFloat = 1, kDouble = 2, kInt32 = 3, kString = 7, kInt64 = 9, kBfloat16 = 14, kHalf = 19;

constexpr std::size_t kMaxTornBytes = 1U << 16U;  // an incomplete last record is shorter
// A record is its header (length, checksum), its data, and their checksum; the frame is all but the data.
constexpr std::size_t kFrame = sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t);
constexpr std::size_t kHeader = sizeof(std::uint64_t) + sizeof(std::uint32_t);

/// TFRecord stores masked checksums, since the CRC of data that contains CRCs would be degenerate.
std::uint32_t maskedCrc(std::string_view bytes) {
    return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

template <class Number>
std::string littleEndian(Number value) {
    static_assert(std::endian::native == std::endian::little);
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

template <class Number>
Number readNumber(std::string_view bytes) {
    Number value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes += static_cast<char>(value | 0x80);
    return bytes + static_cast<char>(value);
}

std::string delimited(char tag, std::string_view content) {
    return tag + varint(content.size()).append(content);
}

std::string record(const std::string& data) {
    const std::string length = littleEndian<std::uint64_t>(data.size());
    return length + littleEndian(maskedCrc(length)) + data + littleEndian(maskedCrc(data));
}

/// Iterates over the fields of a protobuf message.
class Fields {
  public:
    explicit Fields(std::string_view bytes) : rest_(bytes) {}

    struct Field {
        char tag;
        std::uint64_t number;      ///< for a varint
        std::string_view content;  ///< for all other types
    };

    /// Empty at the end, or if the bytes are not a message.
    std::optional<Field> next() {
        if (rest_.empty()) return std::nullopt;
        Field field{rest_[0], 0, {}};
        rest_.remove_prefix(1);
        switch (field.tag & 7) {
            case 0: {
                const auto value = number();
                field.number = value.value_or(0);
                return value ? std::optional(field) : std::nullopt;
            }
            case 1:
                return take(field, sizeof(std::uint64_t));
            case 5:
                return take(field, sizeof(std::uint32_t));
            case 2: {
                const auto size = number();
                return size ? take(field, *size) : std::nullopt;
            }
            default:
                return std::nullopt;
        }
    }

  private:
    std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_[0]);
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if (byte < 0x80) return value;
        }
        return std::nullopt;
    }
    std::optional<Field> take(Field field, std::uint64_t size) {
        if (size > rest_.size()) return std::nullopt;
        field.content = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return field;
    }

    std::string_view rest_;
};

/// The first field with a tag; empty if there is none.
std::optional<Fields::Field> findIn(std::string_view message, char tag) {
    Fields fields(message);
    while (const auto field = fields.next())
        if (field->tag == tag) return field;
    return std::nullopt;
}

/// The first number of a packed or unpacked list.
std::optional<std::uint64_t> firstVarint(const Fields::Field& field) {
    if ((field.tag & 7) == 0) return field.number;
    std::string as_field = "\x08";
    Fields one(as_field.append(field.content));
    const auto first = one.next();
    return first ? std::optional(first->number) : std::nullopt;
}

template <class Number>
std::optional<double> firstNumber(std::string_view bytes) {
    if (bytes.size() < sizeof(Number)) return std::nullopt;
    return static_cast<double>(readNumber<Number>(bytes));
}

/// A 16-bit number: IEEE 754 half precision or bfloat16.
double halfNumber(std::uint64_t bits, bool is_bfloat16) {
    const auto low = static_cast<std::uint32_t>(bits & 0xffffU);
    if (is_bfloat16) return std::bit_cast<float>(low << 16U);
    const int exponent = static_cast<int>(low >> 10U & 0x1fU);
    const double fraction = static_cast<double>(low & 0x3ffU) / 1024;
    double value = 0;
    if (exponent == 0x1f)
        value = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
    else
        value = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    return (low & 0x8000U) != 0 ? -value : value;
}

/// The number in the content bytes of a one-element tensor.
std::optional<double> numberOfContent(std::string_view bytes, std::uint64_t type) {
    switch (type) {
        case kFloat:
            return firstNumber<float>(bytes);
        case kDouble:
            return firstNumber<double>(bytes);
        case kInt32:
            return firstNumber<std::int32_t>(bytes);
        case kInt64:
            return firstNumber<std::int64_t>(bytes);
        case kHalf:
        case kBfloat16:
            if (bytes.size() < sizeof(std::uint16_t)) return std::nullopt;
            return halfNumber(readNumber<std::uint16_t>(bytes), type == kBfloat16);
        default:
            return std::nullopt;
    }
}

/// The number of a `TensorProto` without dimensions; empty for any other.
std::optional<double> numberOfTensor(std::string_view message) {
    std::uint64_t type = 0;
    std::optional<double> number;
    Fields fields(message);
    while (const auto field = fields.next()) {
        const int name = static_cast<unsigned char>(field->tag) >> 3;
        const bool is_whole = name == kIntValues || name == kInt64Values || name == kHalfValues;
        if (field->tag == kTensorType) type = field->number;
        if (field->tag == kTensorShape && findIn(field->content, kShapeDimension)) return std::nullopt;
        if (field->tag == kTensorContent) number = numberOfContent(field->content, type);
        if (name == kFloatValues) number = firstNumber<float>(field->content);
        if (name == kDoubleValues) number = firstNumber<double>(field->content);
        if (!is_whole) continue;
        const auto first = firstVarint(*field);
        if (!first) return std::nullopt;
        number = name == kHalfValues ? halfNumber(*first, type == kBfloat16)
                                     : static_cast<double>(static_cast<std::int64_t>(*first));
    }
    // Zero elements may be omitted.
    const bool is_number = type == kFloat || type == kDouble || type == kInt32 || type == kInt64 ||
                           type == kHalf || type == kBfloat16;
    return is_number ? std::optional(number.value_or(0)) : std::nullopt;
}

/// The TensorBoard plugin that displays a value; empty if none is named.
std::string_view pluginOf(std::string_view metadata) {
    const auto plugin = findIn(metadata, kMetadataPlugin);
    const auto name = plugin ? findIn(plugin->content, kPluginName) : std::nullopt;
    return name ? name->content : std::string_view();
}

/// Empty if the value is not a scalar.
std::optional<std::pair<std::string, double>> parseValue(std::string_view message) {
    std::string tag;
    std::optional<double> simple, tensor;
    std::string_view plugin;
    Fields fields(message);
    while (const auto field = fields.next()) {
        if (field->tag == kValueTag) tag = field->content;
        if (field->tag == kValueMetadata) plugin = pluginOf(field->content);
        if (field->tag == kValueSimple) simple = readNumber<float>(field->content);
        if (field->tag == kValueTensor) tensor = numberOfTensor(field->content);
    }
    // Other plugins, such as HParams, store a meaningless number next to their own data.
    if (!simple && (plugin.empty() || plugin == "scalars")) simple = tensor;
    return simple ? std::optional(std::pair(tag, *simple)) : std::nullopt;
}

bool isSessionStart(std::string_view message) {
    const auto status = findIn(message, kSessionStatus);
    return status && status->number == kSessionStart;
}

/// @param starts  set to whether it marks the start of a session
ScalarEvent parseEvent(std::string_view message, bool& starts) {
    ScalarEvent event;
    starts = false;
    Fields fields(message);
    while (const auto field = fields.next()) {
        if (field->tag == kEventWallTime) event.wall_time = readNumber<double>(field->content);
        if (field->tag == kEventStep) event.step = static_cast<std::int64_t>(field->number);
        if (field->tag == kEventSession) starts = isSessionStart(field->content);
        if (field->tag != kEventSummary) continue;
        Fields values(field->content);
        while (const auto value = values.next()) {
            if (value->tag != kSummaryValue) continue;
            if (auto scalar = parseValue(value->content)) event.scalars.push_back(std::move(*scalar));
        }
    }
    return event;
}

/// The length of the record that begins here, if its frame is valid and it ends within the file.
std::optional<std::size_t> lengthOfRecord(std::string_view file) {
    if (file.size() < kFrame) return std::nullopt;
    const auto length = readNumber<std::uint64_t>(file);
    const auto length_crc = readNumber<std::uint32_t>(file.substr(sizeof length));
    if (length_crc != maskedCrc(file.substr(0, sizeof length)) || length > file.size() - kFrame)
        return std::nullopt;
    return length;
}

/// An event of step 0 with one value.
std::string summaryRecord(double wall_time, const std::string& value) {
    return record(kEventWallTime + littleEndian(wall_time) +
                  delimited(kEventSummary, delimited(kSummaryValue, value)));
}

/// A value for a TensorBoard plugin: one element of a type, and the plugin's metadata.
std::string pluginValue(const std::string& tag, const std::string& plugin, const std::string& content,
                        char type, const std::string& element) {
    const std::string one = delimited(kTensorShape, delimited(kShapeDimension, kDimensionSize + varint(1)));
    return delimited(kValueTag, tag) +
           delimited(kValueTensor, std::string{kTensorType, type} + one + element) +
           delimited(kValueMetadata, delimited(kMetadataPlugin, delimited(kPluginName, plugin) +
                                                                    delimited(kPluginContent, content)));
}

bool isHyperparameter(const SpecificationField& field, const Specification& specification) {
    return field.section != "about" && isKnown(field, specification) && !unusedReason(field, specification);
}

/// `SessionStartInfo` of the HParams plugin: the values in its table for this run.
std::string hparamsValue(double wall_time, const Specification& specification) {
    std::string start;
    for (const SpecificationField& field : specificationFields()) {
        if (!isHyperparameter(field, specification)) continue;
        const std::string text = field.text(specification);
        const auto number = field.isText() ? std::nullopt : parseNumber(text);
        const std::string value =
            number ? kStructNumber + littleEndian(*number) : delimited(kStructString, text);
        start += delimited(kStartHparams, delimited(kMapKey, field.key()) + delimited(kMapValue, value));
    }
    start += kStartTime + littleEndian(wall_time);
    return pluginValue("_hparams_/session_start_info", "hparams", delimited(kHparamsStart, start), kFloat,
                       delimited(kTensorFloat, littleEndian(0.0F)));
}

std::string settingsText(const Specification& specification) {
    std::string table = "| setting | value |\n|---|---|\n";
    for (const SpecificationField& field : specificationFields())
        if (isHyperparameter(field, specification))
            table += markdownRow({field.key(), field.text(specification)});
    return pluginValue("settings/text_summary", "text", "", kString, delimited(kTensorString, table));
}

bool anyRecordFollows(std::string_view file) {
    for (std::size_t at = 1; at + kFrame <= file.size(); ++at)
        if (lengthOfRecord(file.substr(at))) return true;
    return false;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    boost::crc_optimal<32, 0x1edc6f41, 0xffffffff, 0xffffffff, /*ReflectIn=*/true, /*ReflectRem=*/true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

std::string formatSessionStart(double wall_time, std::int64_t step) {
    return record(kEventWallTime + littleEndian(wall_time) + kEventStep +
                  varint(static_cast<std::uint64_t>(step)) +
                  delimited(kEventSession, std::string{kSessionStatus, kSessionStart}));
}

std::string formatEventFileStart(double wall_time, const Specification& specification) {
    return record(kEventWallTime + littleEndian(wall_time) + delimited(kEventFileVersion, "brain.Event:2")) +
           formatSessionStart(wall_time, 0) +
           summaryRecord(wall_time, hparamsValue(wall_time, specification)) +
           summaryRecord(wall_time, settingsText(specification));
}

std::string formatEvent(const ScalarEvent& event) {
    std::string summary;
    for (const auto& [tag, value] : event.scalars)
        summary += delimited(kSummaryValue, delimited(kValueTag, tag) + kValueSimple +
                                                littleEndian(static_cast<float>(value)));
    return record(kEventWallTime + littleEndian(event.wall_time) + kEventStep +
                  varint(static_cast<std::uint64_t>(event.step)) + delimited(kEventSummary, summary));
}

bool isEventFile(std::string_view beginning) {
    return beginning.size() >= kHeader &&
           readNumber<std::uint32_t>(beginning.substr(sizeof(std::uint64_t))) ==
               maskedCrc(beginning.substr(0, sizeof(std::uint64_t)));
}

namespace {

/// The damaged and valid parts of an event file.
struct ScannedRecords {
    std::optional<std::size_t> damaged;
    std::size_t complete_bytes = 0;
};

/// @param starts  receives the step at which a session begins
ScannedRecords scanRecords(std::string_view file, const std::function<void(ScalarEvent&&)>& take,
                           const std::function<void(std::int64_t)>& starts) {
    ScannedRecords scanned;
    bool in_sync = true;  // whether a record should begin here, according to the lengths before
    for (std::size_t at = 0; at + kFrame <= file.size();) {
        const std::string_view rest = file.substr(at);
        const auto length = lengthOfRecord(rest);
        if (!length) {
            if (in_sync && rest.size() < kMaxTornBytes && !anyRecordFollows(rest)) break;
            // Damaged, not merely torn at its end: the next record is searched byte by byte.
            if (!scanned.damaged) scanned.damaged = at;
            in_sync = false;
            ++at;
            continue;
        }
        in_sync = true;
        const std::string_view data = rest.substr(kHeader, *length);
        if (readNumber<std::uint32_t>(rest.substr(kHeader + *length)) == maskedCrc(data)) {
            bool begins = false;
            ScalarEvent event = parseEvent(data, begins);
            if (begins) starts(event.step);
            if (!event.scalars.empty()) take(std::move(event));
        } else if (!scanned.damaged) {
            scanned.damaged = at;
        }
        at += kFrame + *length;
        scanned.complete_bytes = at;
    }
    return scanned;
}

}  // namespace

EventFile parseEvents(std::string_view file) {
    EventFile read;
    const ScannedRecords scanned = scanRecords(
        file, [&](ScalarEvent&& event) { read.events.push_back(std::move(event)); },
        [&](std::int64_t step) {
            ++read.sessions;
            std::erase_if(read.events, [&](const ScalarEvent& one) { return one.step >= step; });
        });
    read.damaged = scanned.damaged;
    read.complete_bytes = scanned.complete_bytes;
    return read;
}

std::optional<std::size_t> forEachEvent(std::string_view file,
                                        const std::function<void(ScalarEvent&&)>& take) {
    return scanRecords(file, take, [](std::int64_t) {}).damaged;
}

namespace {

template <class Row>
ScalarEvent eventOf(const std::string& group, const Row& row) {
    ScalarEvent event{secondsSinceEpoch(), row.step, {}};
    for (const auto& [name, value] : tensorboardValues(row))
        event.scalars.emplace_back(group + "/" + name, value);
    return event;
}

}  // namespace

ScalarEvent eventOf(const MetricsRow& row) {
    return eventOf("training", row);
}

ScalarEvent eventOf(const EvaluationRow& row) {
    ScalarEvent event = eventOf("evaluation", row);
    if (const auto accuracy = tokenAccuracy(row))
        event.scalars.emplace_back("evaluation/token_accuracy", *accuracy);
    return event;
}

}  // namespace roper
