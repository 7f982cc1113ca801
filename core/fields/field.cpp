#include "core/fields/field.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace roper {
namespace {

constexpr std::size_t kShownBytes = 80;  // of a refused text

std::string integerRangeText(const IntegerRange& range) {
    return "a whole number from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

bool isFormerKey(const FieldInfo& field, std::string_view key) {
    return hasElement(field.former_keys, key);
}

}  // namespace

void refuseValue(const FieldInfo& field, const std::string& expected, std::string_view text) {
    throw Error(ErrorKind::usage, field.key() + " must be " + expected +
                                      (field.unit.empty() ? "" : " (" + field.unit + ")") + ", not \"" +
                                      truncateText(text, kShownBytes) + "\"");
}

std::int64_t readInteger(const FieldInfo& field, std::string_view text) {
    const auto& range = std::get<IntegerRange>(field.accepts);
    const auto value = parseInteger(trimmed(text));
    if (!value || *value < range.low || *value > range.high)
        refuseValue(field, integerRangeText(range), text);
    return *value;
}

double readReal(const FieldInfo& field, std::string_view text) {
    const auto& range = std::get<RealRange>(field.accepts);
    const auto value = parseNumber(trimmed(text));
    if (!value || !std::isfinite(*value) || *value < range.low || *value > range.high)
        refuseValue(field, "a number from " + formatNumber(range.low) + " to " + formatNumber(range.high),
                    text);
    return *value;
}

bool readFlag(const FieldInfo& field, std::string_view text) {
    const std::string word = trimmed(text);
    if (word == "1" || word == "true") return true;
    if (word != "0" && word != "false") refuseValue(field, "0 or 1", text);
    return false;
}

std::string readText(const FieldInfo& field, std::string_view text) {
    const std::size_t most = std::get<AnyText>(field.accepts).max_bytes;
    if (text.size() > most) refuseValue(field, "at most " + std::to_string(most) + " bytes", text);
    return std::string(text);
}

std::size_t readChoice(const FieldInfo& field, std::string_view text) {
    const auto& choice = std::get<Choice>(field.accepts);
    std::string name = trimmed(text);
    if (const auto former = choice.former.find(name); former != choice.former.end()) name = former->second;
    const auto found = std::ranges::find(choice.names, name);
    if (found != choice.names.end()) return static_cast<std::size_t>(found - choice.names.begin());
    const auto nearest = closestName(name, choice.names);
    refuseValue(field,
                "one of " + join(choice.names, ", ") + (nearest ? " (did you mean " + *nearest + "?)" : ""),
                text);
}

bool isUnbounded(const IntegerRange& range) {
    return range.high >= std::numeric_limits<int>::max();
}

std::string acceptsText(const FieldInfo& field) {
    struct Words {
        std::string operator()(const IntegerRange& range) const {
            if (isUnbounded(range)) return std::to_string(range.low) + " or more";
            return std::to_string(range.low) + " to " + std::to_string(range.high);
        }
        std::string operator()(const RealRange& range) const {
            return plain(range.low) + " to " + plain(range.high);
        }
        /// Writes 100000 rather than 1e+05.
        static std::string plain(double value) {
            constexpr double kLongest = 1e7;
            const bool is_whole = value == std::round(value) && std::abs(value) <= kLongest;
            return is_whole ? std::to_string(static_cast<std::int64_t>(value)) : formatNumber(value);
        }
        std::string operator()(const Choice& choice) const { return join(choice.names, ", "); }
        std::string operator()(const Flag&) const { return "0, 1"; }
        std::string operator()(const AnyText&) const { return "text"; }
        std::string operator()(const CustomFormat& own) const { return own.description; }
    };
    return std::visit(Words(), field.accepts);
}

std::size_t findKey(const std::vector<const FieldInfo*>& fields, std::string_view key,
                    const std::vector<std::string>& other_names) {
    std::vector<std::size_t> by_name;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldInfo& field = *fields[i];
        if (field.hasKey(key) || isFormerKey(field, key)) return i;
        const bool former_name = std::ranges::any_of(field.former_keys, [&](const std::string& former) {
            return former == field.section + "." + std::string(key);
        });
        if (field.name == key || former_name) by_name.push_back(i);
    }
    if (by_name.size() == 1) return by_name.front();
    if (by_name.size() > 1)
        throw Error(ErrorKind::usage,
                    "\"" + std::string(key) + "\" is in several sections; write section." + std::string(key));
    std::vector<std::string> known = other_names;
    const bool with_section = key.find('.') != std::string_view::npos;
    for (const FieldInfo* field : fields)
        known.push_back(with_section ? field->key() : field->name);
    throw Error(ErrorKind::usage, "unknown key \"" + std::string(key) + "\"; " + nameHint(key, known));
}

void requireOnce(std::map<std::string, std::string>& given_keys, const FieldInfo& field,
                 const std::string& key) {
    const auto [before, first] = given_keys.emplace(field.key(), key);
    if (first) return;
    throw Error(ErrorKind::usage, before->second == key ? "\"" + key + "\" is given twice"
                                                        : "\"" + key + "\" and \"" + before->second +
                                                              "\" are two names of one field; give only one");
}

std::pair<std::string, std::string> splitSetting(std::string_view setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string_view::npos)
        throw Error(ErrorKind::usage, "a setting must be key=value, not \"" +
                                          std::string(setting.substr(0, kShownBytes)) + "\"");
    return {trimmed(setting.substr(0, equals)), trimmed(setting.substr(equals + 1))};
}

}  // namespace roper
