#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/text.h"

namespace roper {

// The one mechanism by which named settings are read, validated, documented and written: settings of run
// specifications, explorer pages, figures and comparisons. Every setting has a text form, from and to which
// other forms (TOML, editors in the window) are converted.

/// The values that a field accepts. Ranges include both ends.
struct IntegerRange {
    std::int64_t low, high;
};
struct RealRange {
    double low, high;
};
struct Choice {
    std::vector<std::string> names;
    /// Names in older versions, still accepted, with the current name of each.
    std::map<std::string, std::string> former = {};
};
struct Flag {};  ///< written as 0 or 1; true and false are also read
struct AnyText {
    std::size_t max_bytes = 1 << 20;
};
struct CustomFormat {
    std::string description;  ///< description of valid texts, to follow "must be "
};
using AcceptedValues = std::variant<IntegerRange, RealRange, Choice, Flag, AnyText, CustomFormat>;

/// Description of a named setting, independent of the type it belongs to.
struct FieldInfo {
    std::string section;  ///< empty if settings have no sections
    std::string name;
    std::string unit;  ///< empty if there is none
    std::string help;  ///< one line
    AcceptedValues accepts;
    std::vector<std::string> former_keys = {};  ///< keys in older versions, still accepted

    std::string key() const { return section.empty() ? name : section + "." + name; }
    /// Whether this is the key. Makes no string, since fields of a thousand runs are looked up at once.
    bool hasKey(std::string_view text) const {
        if (section.empty()) return text == name;
        return text.size() == section.size() + 1 + name.size() && text.starts_with(section) &&
               text[section.size()] == '.' && text.ends_with(name);
    }
    bool isText() const {
        return std::holds_alternative<Choice>(accepts) || std::holds_alternative<AnyText>(accepts) ||
               std::holds_alternative<CustomFormat>(accepts);
    }
    bool isReal() const { return std::holds_alternative<RealRange>(accepts); }
    bool isChoice() const { return std::holds_alternative<Choice>(accepts); }
};

/// A setting of a T: `text` returns its value as text, `set` parses one.
template <class T>
struct Field : FieldInfo {
    std::function<std::string(const T&)> text = {};
    /// @throws Error (usage) saying what the field accepts
    std::function<void(T&, std::string_view)> set = {};
    /// Clamps a number to its range, NaN to the lower end; only for numbers.
    std::function<void(T&)> clamp = {};
};

/// Parses a value of the field. @throws Error (usage) naming the field, what it accepts and the text
std::int64_t readInteger(const FieldInfo& field, std::string_view text);
double readReal(const FieldInfo& field, std::string_view text);
bool readFlag(const FieldInfo& field, std::string_view text);
std::string readText(const FieldInfo& field, std::string_view text);
/// Index of the name in the choice.
std::size_t readChoice(const FieldInfo& field, std::string_view text);

/// @throws Error (usage): "KEY must be EXPECTED (UNIT), not "TEXT""
[[noreturn]] void refuseValue(const FieldInfo& field, const std::string& expected, std::string_view text);

/// Whether the upper end of the range is too large to be worth showing.
bool isUnbounded(const IntegerRange& range);

/// What a field accepts, for tables: "1 to 18", "pre, post", "text".
std::string acceptsText(const FieldInfo& field);

/// The descriptions of fields, without the type that the fields belong to.
template <class T>
std::vector<const FieldInfo*> fieldInfos(const std::vector<Field<T>>& fields) {
    return mapped(fields, [](const Field<T>& field) -> const FieldInfo* { return &field; });
}

/// Index of the field with this key ("model.width"), a former key or, if it is unique, the bare name
/// ("width").
/// @param other_names  valid names that are not fields, also considered when suggesting the nearest name
/// @throws Error (usage) with the nearest known name
std::size_t findKey(const std::vector<const FieldInfo*>& fields, std::string_view key,
                    const std::vector<std::string>& other_names = {});

template <class T>
const Field<T>& findField(const std::vector<Field<T>>& fields, std::string_view key,
                          const std::vector<std::string>& other_names = {}) {
    for (const Field<T>& field : fields)
        if (field.hasKey(key)) return field;
    return fields[findKey(fieldInfos(fields), key, other_names)];
}

/// Splits "key=value". @throws Error (usage) if there is no "="
std::pair<std::string, std::string> splitSetting(std::string_view setting);

/// A field for the member returned by `at`: an integer, a real number, a flag, a text, or an enumeration
/// whose values correspond to the names of the choice, in order.
/// @param at  T& → reference to the member
template <class T, class At>
requires(!std::is_member_pointer_v<At>) Field<T> field(FieldInfo info, At at) {
    using Value = std::remove_reference_t<decltype(at(std::declval<T&>()))>;
    Field<T> made{std::move(info)};
    const FieldInfo self = made;
    // `at` takes a mutable T, but reading does not change it.
    const auto get = [at](const T& object) -> const Value& { return at(const_cast<T&>(object)); };
    if constexpr (std::is_same_v<Value, bool>) {
        made.text = [get](const T& object) { return std::string(get(object) ? "1" : "0"); };
        made.set = [self, at](T& object, std::string_view text) { at(object) = readFlag(self, text); };
    } else if constexpr (std::is_enum_v<Value>) {
        made.text = [self, get](const T& object) {
            return std::get<Choice>(self.accepts).names.at(static_cast<std::size_t>(get(object)));
        };
        made.set = [self, at](T& object, std::string_view text) {
            at(object) = static_cast<Value>(readChoice(self, text));
        };
    } else if constexpr (std::is_integral_v<Value>) {
        made.text = [get](const T& object) { return std::to_string(get(object)); };
        made.set = [self, at](T& object, std::string_view text) {
            at(object) = static_cast<Value>(readInteger(self, text));
        };
        made.clamp = [range = std::get<IntegerRange>(self.accepts), at](T& object) {
            at(object) = static_cast<Value>(
                std::clamp<std::int64_t>(static_cast<std::int64_t>(at(object)), range.low, range.high));
        };
    } else if constexpr (std::is_floating_point_v<Value>) {
        made.text = [get](const T& object) { return formatNumber(get(object)); };
        made.set = [self, at](T& object, std::string_view text) { at(object) = readReal(self, text); };
        made.clamp = [range = std::get<RealRange>(self.accepts), at](T& object) {
            at(object) = at(object) >= range.low ? std::min(at(object), range.high) : range.low;
        };
    } else {
        made.text = [get](const T& object) { return std::string(get(object)); };
        made.set = [self, at](T& object, std::string_view text) {
            if (const auto* choice = std::get_if<Choice>(&self.accepts))
                at(object) = choice->names[readChoice(self, text)];
            else
                at(object) = readText(self, text);
        };
    }
    return made;
}

/// A member of T, or one of its members: `memberAt<Question>(&Question::change, &ModelChange::base)`.
template <class T, class... Members>
auto memberAt(Members... members) {
    return [members...](T & object) -> auto& {
        return (object.*....*members);
    };
}

/// A field for such a member.
template <class T, class... Members>
requires(std::is_member_pointer_v<Members>&&...) Field<T> field(FieldInfo info, Members... members) {
    return field<T>(std::move(info), memberAt<T>(members...));
}

/// The same for an optional member; an unset member is written as an empty text.
/// @param at  T& → std::optional<Value>&
template <class T, class At>
Field<T> optionalField(FieldInfo info, At at) {
    const auto value = [at](T & object) -> auto& {
        auto& member = at(object);
        if (!member) member.emplace();
        return *member;
    };
    Field<T> made = field<T>(std::move(info), value);
    made.text = [plain = made.text, at](const T& object) {
        return at(const_cast<T&>(object)) ? plain(object) : std::string();
    };
    made.clamp = {};
    return made;
}

/// A field that had another key in older versions.
template <class T>
Field<T> formerly(std::string key, Field<T> field) {
    field.former_keys.push_back(std::move(key));
    return field;
}

/// Records the key, current or former, under which a field was given.
/// @throws Error (usage) naming both keys if the field was given before
void requireOnce(std::map<std::string, std::string>& given_keys, const FieldInfo& field,
                 const std::string& key);

/// Applies settings, each field at most once. @throws Error (usage) naming the key and what it accepts
template <class T>
void applySettings(const std::vector<Field<T>>& fields, T& object,
                   const std::vector<std::pair<std::string, std::string>>& settings) {
    std::map<std::string, std::string> given_keys;
    for (const auto& [key, value] : settings) {
        const Field<T>& field = findField(fields, key);
        requireOnce(given_keys, field, key);
        field.set(object, value);
    }
}

}  // namespace roper
