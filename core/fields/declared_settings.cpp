#include "core/fields/declared_settings.h"

#include <algorithm>
#include <stdexcept>

namespace roper {

const DeclaredSetting& DeclaredSettings::declaration(std::string_view name) const {
    const auto found = std::ranges::find(*declarations_, name, &DeclaredSetting::name);
    if (found == declarations_->end())
        throw std::logic_error("nothing declares a setting " + std::string(name));
    return *found;
}

const DeclaredSetting::Value& DeclaredSettings::at(std::string_view name) const {
    const auto found = values_.find(name);
    return found != values_.end() ? found->second : declaration(name).default_value;
}

void DeclaredSettings::set(std::string_view name, DeclaredSetting::Value value) {
    if (declaration(name).default_value.index() != value.index())
        throw std::logic_error("the setting " + std::string(name) + " is of another type");
    values_.insert_or_assign(std::string(name), std::move(value));
}

std::string DeclaredSettings::asText(const FieldInfo& setting) const {
    if (std::holds_alternative<IntegerRange>(setting.accepts)) return std::to_string(integer(setting.name));
    return setting.isReal() ? formatNumber(real(setting.name)) : text(setting.name);
}

void DeclaredSettings::setText(const FieldInfo& setting, std::string_view text) {
    if (std::holds_alternative<IntegerRange>(setting.accepts))
        set(setting.name, readInteger(setting, text));
    else if (setting.isReal())
        set(setting.name, readReal(setting, text));
    else if (const auto* choice = std::get_if<Choice>(&setting.accepts))
        set(setting.name, choice->names[readChoice(setting, text)]);
    else
        set(setting.name, readText(setting, text));
}

DeclaredSetting integerSetting(std::string name, std::string unit, std::string help, IntegerRange range,
                               std::int64_t default_value) {
    return {{"", std::move(name), std::move(unit), std::move(help), range}, default_value};
}

DeclaredSetting realSetting(std::string name, std::string unit, std::string help, RealRange range,
                            double default_value) {
    return {{"", std::move(name), std::move(unit), std::move(help), range}, default_value};
}

DeclaredSetting textSetting(std::string name, std::string help, std::string default_value) {
    return {{"", std::move(name), "", std::move(help), AnyText()}, std::move(default_value)};
}

DeclaredSetting choiceSetting(std::string name, std::string help, Choice choice, std::string default_value) {
    return {{"", std::move(name), "", std::move(help), std::move(choice)}, std::move(default_value)};
}

}  // namespace roper
