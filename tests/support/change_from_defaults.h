#pragma once

#include <algorithm>
#include <cstdint>

#include "core/specification/specification.h"

namespace roper {

/// Moves the settings that only the specification's method has away from their defaults, to reveal code that
/// ignores them. Choices and settings that already differ stay unchanged.
inline void changeFromDefaults(Specification& s) {
    for (const DeclaredSetting& setting : s.model.method().settings) {
        if (s.model.specific_settings.asText(setting) != DeclaredSettings(methodSettings()).asText(setting))
            continue;
        if (const auto* range = std::get_if<IntegerRange>(&setting.accepts)) {
            const std::int64_t value = s.model.specific_settings.integer(setting.name);
            s.model.specific_settings.set(
                setting.name, std::clamp(value == 0 ? 40 : value - value / 3, range->low, range->high));
        } else if (const auto* reals = std::get_if<RealRange>(&setting.accepts)) {
            const double value = s.model.specific_settings.real(setting.name);
            s.model.specific_settings.set(setting.name,
                                          std::clamp(0.5 * value + 0.25, reals->low, reals->high));
        }
    }
}

}  // namespace roper
