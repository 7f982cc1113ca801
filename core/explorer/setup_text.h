#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"

namespace roper {

/// What a setup's text says beyond the setup: which page and tab were in front. Keys begin with "view.".
using ViewSettings = std::map<std::string, std::string>;

struct SetupText {
    Setup setup;
    ViewSettings view;
};

/// One line that restores a view exactly: "roper-lab:setup?defaults=2&base=500000&view.page=Spectrum".
/// Holds what differs from the defaults, and which defaults it means; text is percent-encoded.
std::string formatSetup(const SetupText& text);

/// The settings in which a setup differs from the defaults, as `withSettings` takes them.
std::vector<std::pair<std::string, std::string>> settingsOf(const Setup& setup);

/// Reads such a line. White space around it is ignored.
/// @throws Error (usage) saying what is wrong: not such a line, an unknown or repeated key, a value that
/// cannot be or is out of bounds
SetupText parseSetup(std::string_view line);

/// Applies "key=value" settings to a setup, all together: bounds are checked at the end. @throws Error
/// (usage)
Setup withSettings(Setup setup, const std::vector<std::pair<std::string, std::string>>& settings);

}  // namespace roper
