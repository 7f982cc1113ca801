#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/fields/field.h"

namespace roper {

/// A setting, with its default, that a task or a position method declares for itself.
struct DeclaredSetting : FieldInfo {
    using Value = std::variant<std::int64_t, double, std::string>;
    Value default_value;
};

/// Values of such settings by name. Settings that were never set have their defaults.
class DeclaredSettings {
  public:
    /// @param declarations  all settings; names must be unique, and the list must outlive this object
    explicit DeclaredSettings(const std::vector<DeclaredSetting>& declarations)
        : declarations_(&declarations) {}

    /// @throws std::logic_error if there is no setting of this name and type
    std::int64_t integer(std::string_view name) const { return std::get<std::int64_t>(at(name)); }
    double real(std::string_view name) const { return std::get<double>(at(name)); }
    const std::string& text(std::string_view name) const { return std::get<std::string>(at(name)); }

    /// @throws std::logic_error if there is no setting of this name and the value's type
    void set(std::string_view name, DeclaredSetting::Value value);

    /// The value as text, as `Field::text` returns it.
    std::string asText(const FieldInfo& setting) const;
    /// @throws Error (usage) saying what the setting accepts
    void setText(const FieldInfo& setting, std::string_view text);

    /// Restores all defaults.
    void reset() { values_.clear(); }

    bool operator==(const DeclaredSettings&) const = default;

  private:
    const DeclaredSetting& declaration(std::string_view name) const;
    const DeclaredSetting::Value& at(std::string_view name) const;

    const std::vector<DeclaredSetting>* declarations_;
    std::map<std::string, DeclaredSetting::Value, std::less<>> values_;
};

/// What is wrong with one setting or with a combination.
struct SettingProblem {
    std::string key;  ///< key of the field, such as "task.string_min"
    std::string message;
};

/// These make the declarations in the source file of a task or position method.
DeclaredSetting integerSetting(std::string name, std::string unit, std::string help, IntegerRange range,
                               std::int64_t default_value);
DeclaredSetting realSetting(std::string name, std::string unit, std::string help, RealRange range,
                            double default_value);
DeclaredSetting textSetting(std::string name, std::string help, std::string default_value);
DeclaredSetting choiceSetting(std::string name, std::string help, Choice choice, std::string default_value);

/// The field of a T for a declared setting.
/// @param at  T& → reference to its `DeclaredSettings`
template <class T, class At>
Field<T> declaredField(const DeclaredSetting& setting, const std::string& section, At at) {
    Field<T> made{setting};
    made.section = section;
    for (std::string& former : made.former_keys)
        former.insert(0, section + ".");
    const FieldInfo self = made;
    const auto get = [at](const T& object) -> const DeclaredSettings& { return at(const_cast<T&>(object)); };
    made.text = [self, get](const T& object) { return get(object).asText(self); };
    made.set = [self, at](T& object, std::string_view text) { at(object).setText(self, text); };
    return made;
}

}  // namespace roper
