#include "core/tour/toml_section.h"

#include "core/base/text.h"

namespace roper {

std::string TomlSection::text(const std::string& key) {
    const auto value = optionalText(key);
    if (!value) fail(table_.source(), "\"" + key + "\" is missing");
    return *value;
}

std::optional<std::string> TomlSection::optionalText(const std::string& key) {
    const auto node = take(key);
    if (!node) return std::nullopt;
    const auto value = node.value_exact<std::string>();
    if (!value || trimmed(*value).empty())
        fail(placeOf(node), "\"" + key + "\" must be non-empty text in quotes");
    return trimmed(*value);
}

int TomlSection::whole(const std::string& key, int low, int high) {
    const auto node = take(key);
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < low || *value > high)
        fail(placeOf(node), "\"" + key + "\" must be a whole number from " + std::to_string(low) + " to " +
                                std::to_string(high));
    return static_cast<int>(*value);
}

bool TomlSection::flag(const std::string& key) {
    const auto node = take(key);
    if (!node) return false;
    const auto value = node.value_exact<bool>();
    if (!value) fail(placeOf(node), "\"" + key + "\" must be true or false");
    return *value;
}

std::vector<std::string> TomlSection::texts(const std::string& key, std::size_t min_count,
                                            std::size_t max_count) {
    const auto node = take(key);
    const toml::array* array = node.as_array();
    std::vector<std::string> values;
    if (array != nullptr)
        for (const toml::node& item : *array)
            if (const auto value = item.value_exact<std::string>()) values.push_back(trimmed(*value));
    if (array == nullptr || values.size() != array->size() || values.size() < min_count ||
        values.size() > max_count)
        fail(placeOf(node), "\"" + key + "\" must be a list of " + std::to_string(min_count) + " to " +
                                std::to_string(max_count) + " strings");
    return values;
}

std::vector<std::pair<std::string, std::string>> TomlSection::entries(const std::string& key) {
    const auto node = take(key);
    std::vector<std::pair<std::string, std::string>> values;
    if (!node) return values;
    if (!node.is_table()) fail(placeOf(node), "\"" + key + "\" must be a table of settings");
    for (const auto& [name, value] : *node.as_table()) {
        const auto text = settingText(value);
        if (!text) fail(value.source(), "a setting must be text in quotes, a number, true or false");
        values.emplace_back(name.str(), *text);
    }
    return values;
}

std::optional<TomlSection> TomlSection::section(const std::string& key) {
    const auto node = take(key);
    if (!node) return std::nullopt;
    if (!node.is_table()) fail(placeOf(node), "\"" + key + "\" must be a table");
    return TomlSection(*node.as_table(), origin_);
}

std::vector<const toml::table*> TomlSection::tables(const std::string& key, std::size_t max_count) {
    const toml::array* array = take(key).as_array();
    std::vector<const toml::table*> values;
    if (array != nullptr)
        for (const toml::node& item : *array)
            if (item.is_table()) values.push_back(item.as_table());
    if (values.empty() || values.size() != array->size() || values.size() > max_count)
        fail(table_.source(),
             "this file needs 1 to " + std::to_string(max_count) + " [[" + key + "]] sections");
    return values;
}

void TomlSection::finish() const {
    for (const auto& [key, node] : table_) {
        const std::string name(key.str());
        if (hasElement(taken_, name)) continue;
        const auto nearest = closestName(name, taken_);
        fail(key.source(),
             "\"" + name + "\" is not a known key" + (nearest ? "; did you mean \"" + *nearest + "\"?" : ""));
    }
}

void TomlSection::fail(const toml::source_region& place, const std::string& what) const {
    refuseToml(origin_, place, what);
}

toml::node_view<const toml::node> TomlSection::take(const std::string& key) {
    taken_.push_back(key);
    return table_[key];
}

const toml::source_region& TomlSection::placeOf(const toml::node_view<const toml::node>& node) const {
    return node ? node.node()->source() : table_.source();
}

}  // namespace roper
