#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// State of the window that is stored with a setup, such as the current page and tab. Keys begin with
/// "view.".
using ViewSettings = std::map<std::string, std::string>;

struct SetupText {
    Setup setup;
    ViewSettings view;
};

/// One line that restores a view exactly: "roper-lab:setup?defaults=2&base=500000&view.page=Spectrum".
/// Contains the differences from the defaults, and the version of the defaults; text is percent-encoded.
std::string formatSetup(const SetupText& text);

/// Settings in which a setup differs from the defaults, as accepted by `withSettings`.
std::vector<std::pair<std::string, std::string>> changedSettings(const Setup& setup);

/// Parses such a line; surrounding white space is ignored.
/// @throws Error (usage) saying what is wrong: not such a line, an unknown or repeated key, an invalid value
/// or one out of bounds
SetupText parseSetup(std::string_view line);

/// Applies all settings, each "key", "value", and then checks their bounds. @throws Error (usage)
Setup withSettings(Setup setup, const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace roper
