#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/fields/field.h"
#include "ui/pages/inspect/inspect_page.h"

namespace roper {

/// Keys and values.
using InspectSettings = std::vector<std::pair<std::string, std::string>>;

/// Lets the event loop run as long as something is busy. @throws Error (other) after ten minutes
void waitWhile(const std::function<bool()>& is_busy);

/// The settings that pictures of a model know.
std::vector<const FieldInfo*> inspectFieldInfos();

/// Fills the page with what a kind of picture ("heads", "head", "continuation", "solved-by-size") needs;
/// waits for the model's answers. @throws Error (usage) naming the setting, or what the model said
void prepareInspection(InspectPage& page, const std::string& kind, const std::string& run,
                       const InspectSettings& settings);

}  // namespace roper
