#include <algorithm>
#include <stdexcept>

#include "core/base/text.h"
#include "core/methods/list.h"
#include "core/methods/position_method.h"

namespace roper {

#define DECLARE(name) PositionMethod name##Method();
ROPER_METHODS(DECLARE)
#undef DECLARE

/// @throws std::logic_error if a file gives its method another name than the list
static PositionMethod named(PositionMethod made, const std::string& name) {
    if (made.name != name) throw std::logic_error("the list has " + name + ", its file " + made.name);
    return made;
}

const std::vector<PositionMethod>& positionMethods() {
#define CALL(name) named(name##Method(), #name),
    static const std::vector<PositionMethod> methods = {ROPER_METHODS(CALL)};
#undef CALL
    return methods;
}

const PositionMethod& positionMethod(const std::string& name) {
    std::vector<std::string> known;
    for (const PositionMethod& method : positionMethods()) {
        if (method.name == name) return method;
        known.push_back(method.name);
    }
    throw std::invalid_argument("unknown position method '" + name + "'; known are " + join(known, ", "));
}

const std::vector<OwnSetting>& methodSettings() {
    static const std::vector<OwnSetting> all = [] {
        std::vector<OwnSetting> settings;
        for (const PositionMethod& method : positionMethods())
            settings.insert(settings.end(), method.settings.begin(), method.settings.end());
        return settings;
    }();
    return all;
}

const std::vector<std::string>& twinMethods() {
    static const std::vector<std::string> twins = {"rope", "roper"};
    return twins;
}

bool PositionMethod::readsField(const std::string& field) const {
    return std::find(reads.begin(), reads.end(), field) != reads.end() ||
           std::any_of(settings.begin(), settings.end(),
                       [&](const OwnSetting& setting) { return setting.name == field; });
}

PositionSettings::PositionSettings() : own(methodSettings()) {}

const PositionMethod& PositionSettings::method() const {
    return positionMethod(position);
}

bool PositionSettings::trainsFrequencies() const {
    return method().rotates && frequencies == "trained";
}

}  // namespace roper
