#include "core/model_config/config_fields.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxShownBytes = 60, kMaxListedLayers = 1024;

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorKind::usage, message);
}

std::string shown(const Json& value) {
    const std::string text = jsonText(value);
    return text.size() <= kMaxShownBytes ? text : text.substr(0, kMaxShownBytes) + " …";
}

}  // namespace

ConfigFields::ConfigFields(std::shared_ptr<const Json> root, const Json& object, std::string where)
    : root_(std::move(root)), json_(&object), where_(std::move(where)) {}

ConfigFields ConfigFields::parse(std::string_view text) {
    constexpr std::size_t kMaxBytes = 1 << 20;
    if (text.size() > kMaxBytes) fail("this is too long for a config.json");
    if (trimmed(text).empty()) fail("the text is empty; paste the text of a model's config.json");
    auto root = std::make_shared<Json>();
    try {
        // NaN and Infinity become strings, which are refused where a number is read and ignored elsewhere.
        *root = parseStrictJson(quoteNonFiniteNumbers(text));
    } catch (const std::invalid_argument& error) {
        fail(std::string("this is not JSON: ") + error.what());
    }
    if (!root->is_object()) fail("a config.json must be one JSON object, { … }");
    const Json& object = *root;
    return {std::move(root), object, ""};
}

bool ConfigFields::has(const std::string& key) const {
    return json_->contains(key) && !json_->at(key).is_null();
}

bool ConfigFields::contains(const std::string& key) const {
    return json_->contains(key);
}

bool ConfigFields::equalsJson(const std::string& key, const std::string& json) const {
    const Json* const value = read(key);
    return value != nullptr && *value == Json::parse(json);
}

bool ConfigFields::isNumber(const std::string& key) const {
    return has(key) && json_->at(key).is_number();
}

ConfigFields ConfigFields::unreadCopy() const {
    return {root_, *json_, where_};
}

bool ConfigFields::isEmpty() const {
    return json_->empty();
}

ConfigFields ConfigFields::mergedWith(const ConfigFields& other) const {
    auto both = std::make_shared<Json>(*json_);
    both->update(*other.json_);
    const Json& object = *both;
    ConfigFields made(std::move(both), object, other.where_);
    made.source_members_ = {read_members_, other.read_members_};
    return made;
}

void ConfigFields::refuse(const std::string& key, const std::string& what) const {
    fail(nameOf(key) + " " + what);
}

const Json* ConfigFields::read(const std::string& key) const {
    read_members_->members.insert(key);
    for (const auto& also : source_members_)
        also->members.insert(key);
    return has(key) ? &json_->at(key) : nullptr;
}

std::optional<double> ConfigFields::number(const std::string& key, double low, double high) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) refuse(key, "must be a number, not " + shown(*value));
    const double number = value->get<double>();
    if (!(number >= low && number <= high))
        refuse(key, "must lie between " + formatNumber(low) + " and " + formatNumber(high) + ", not " +
                        formatNumber(number));
    return number;
}

std::optional<int> ConfigFields::integer(const std::string& key, int low, int high) const {
    const auto value = number(key, low, high);
    if (value && *value != std::floor(*value))
        refuse(key, "must be a whole number, not " + formatNumber(*value));
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

bool ConfigFields::flagOr(const std::string& key, bool default_value) const {
    return flag(key).value_or(!contains(key) && default_value);
}

std::optional<bool> ConfigFields::flag(const std::string& key) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) refuse(key, "must be true or false, not " + shown(*value));
    return value->get<bool>();
}

std::optional<std::string> ConfigFields::text(const std::string& key) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) refuse(key, "must be text, not " + shown(*value));
    return value->get<std::string>();
}

std::optional<std::vector<double>> ConfigFields::numbers(const std::string& key, double low, double high,
                                                         std::size_t max_count) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) refuse(key, "must be a list of numbers, not " + shown(*value));
    if (value->size() > max_count) refuse(key, "has more than " + std::to_string(max_count) + " numbers");
    std::vector<double> read;
    for (const Json& entry : *value) {
        if (!entry.is_number()) refuse(key, "must be a list of numbers; one entry is " + shown(entry));
        read.push_back(entry.get<double>());
        if (!(read.back() >= low && read.back() <= high))
            refuse(key, "must contain numbers between " + formatNumber(low) + " and " + formatNumber(high) +
                            ", not " + formatNumber(read.back()));
    }
    return read;
}

std::optional<std::vector<int>> ConfigFields::integers(const std::string& key, int low, int high,
                                                       std::size_t max_count) const {
    const auto all = numbers(key, low, high, max_count);
    if (!all) return std::nullopt;
    for (const double one : *all)
        if (one != std::floor(one))
            refuse(key, "must be a list of whole numbers; one entry is " + formatNumber(one));
    return std::vector<int>(all->begin(), all->end());
}

void ConfigFields::requireOnePerLayer(const std::string& key, std::size_t entries,
                                      std::int64_t layers) const {
    if (static_cast<std::int64_t>(entries) != layers)
        refuse(key, "has " + std::to_string(entries) + " entries for " + std::to_string(layers) + " layers");
}

std::optional<std::vector<std::size_t>> ConfigFields::kindsByLayer(
    const std::string& key, std::int64_t layers, const std::vector<std::string>& known) const {
    const auto kinds = texts(key, kMaxListedLayers);
    if (!kinds) return std::nullopt;
    requireOnePerLayer(key, kinds->size(), layers);
    std::vector<std::size_t> indices;
    for (const std::string& kind : *kinds) {
        const auto found = std::find(known.begin(), known.end(), kind);
        if (found == known.end())
            refuse(key, "\"" + toSingleLine(kind) + "\" is unknown; expected one of " + join(known, ", "));
        indices.push_back(static_cast<std::size_t>(found - known.begin()));
    }
    return indices;
}

std::optional<std::vector<std::string>> ConfigFields::texts(const std::string& key,
                                                            std::size_t max_count) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array()) refuse(key, "must be a list of texts, not " + shown(*value));
    if (value->size() > max_count) refuse(key, "has more than " + std::to_string(max_count) + " texts");
    std::vector<std::string> read;
    for (const Json& entry : *value) {
        if (!entry.is_string()) refuse(key, "must be a list of texts; one entry is " + shown(entry));
        read.push_back(entry.get<std::string>());
    }
    return read;
}

std::optional<ConfigFields> ConfigFields::object(const std::string& key) const {
    const Json* value = read(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_object()) refuse(key, "must be an object, not " + shown(*value));
    ConfigFields inner(root_, *value, nameOf(key));
    std::shared_ptr<ReadMembers>& nested_members = read_members_->nested[key];
    if (!nested_members) nested_members = inner.read_members_;
    inner.read_members_ = nested_members;
    return inner;
}

std::optional<double> ConfigFields::firstNumber(std::initializer_list<const char*> keys, double low,
                                                double high) const {
    for (const char* key : keys)
        if (const auto value = number(key, low, high)) return value;
    return std::nullopt;
}

std::optional<int> ConfigFields::firstInteger(std::initializer_list<const char*> keys, int low,
                                              int high) const {
    for (const char* key : keys)
        if (const auto value = integer(key, low, high)) return value;
    return std::nullopt;
}

std::vector<std::string> ConfigFields::objectKeys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : json_->items())
        if (value.is_object()) keys.push_back(key);
    return keys;
}

std::vector<std::string> ConfigFields::unread() const {
    std::vector<std::string> named;
    for (const auto& [key, value] : json_->items())
        if (!value.is_null() && value != false && read_members_->members.count(key) == 0)
            named.push_back(nameOf(key) + " = " + shown(value));
    return named;
}

}  // namespace roper
