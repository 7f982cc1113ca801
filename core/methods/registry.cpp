#include <algorithm>

#include "core/fields/registry.h"
#include "core/methods/list.h"
#include "core/methods/position_method.h"

namespace roper {

#define DECLARE(name, implementation) PositionMethod name##Method();
ROPER_METHODS(DECLARE)
#undef DECLARE

const std::vector<PositionMethod>& positionMethods() {
#define CALL(name, implementation) requireListedName(name##Method(), #name),
    static const std::vector<PositionMethod> methods = {ROPER_METHODS(CALL)};
#undef CALL
    return methods;
}

const PositionMethod& positionMethod(const std::string& name) {
    return findEntry(positionMethods(), name, "position method");
}

const std::vector<DeclaredSetting>& methodSettings() {
    static const std::vector<DeclaredSetting> all = allSettings(positionMethods());
    return all;
}

const std::vector<std::string>& twinMethods() {
    static const std::vector<std::string> twins = {"rope", "roper"};
    return twins;
}

bool PositionMethod::readsField(const std::string& field) const {
    return hasElement(relevant_fields, field) ||
           std::ranges::count(settings, field, &DeclaredSetting::name) > 0;
}

PositionSettings::PositionSettings() : specific_settings(methodSettings()) {}

const PositionMethod& PositionSettings::method() const {
    return positionMethod(position);
}

bool PositionSettings::trainsFrequencies() const {
    return (rotatedTensors().anyOfScores() || rotatedTensors().anyOfValues()) && frequencies == "trained";
}

RotaryConfig PositionSettings::rotation(std::int64_t d) const {
    const RotatedTensors rotated = rotatedTensors();
    if (!rotated.anyOfScores() && !(shared_kv && rotated.anyOfValues())) return unrotatedConfig(d);
    RotaryConfig made = *this;
    made.head_dim = static_cast<int>(d);
    return made;
}

RotatedTensors PositionSettings::rotatedTensors() const {
    RotatedTensors rotated = method().rotatedTensors(specific_settings.text("rotates"));
    if (shared_kv && rotated.key) rotated.value = true;
    return rotated;
}

RotaryConfig PositionSettings::valueRotation(std::int64_t d) const {
    if (shared_kv) return rotation(d);
    if (!rotatedTensors().anyOfValues()) return unrotatedConfig(d);
    RotaryConfig made = *this;
    made.head_dim = static_cast<int>(d);
    made.rotary_fraction = value_rotary_fraction;
    made.frequency_factor = value_rotation_strength;
    return made;
}

}  // namespace roper
