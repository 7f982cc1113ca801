#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ui/pages/compare/compare_state.h"

namespace roper {

/// Puts settings of the command line (key and value) into what is asked of the runs.
/// @throws Error (usage) naming the key
void setCompareQuestion(CompareQuestion& question,
                        const std::vector<std::pair<std::string, std::string>>& settings);

/// Key and meaning of each.
std::vector<std::pair<std::string, std::string>> compareSettingsHelp();

}  // namespace roper
