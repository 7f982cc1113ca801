#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"
#include "core/fields/field.h"

namespace roper {

/// One member of a Setup with its name in texts and `--set`.
using SetupField = Field<Setup>;

/// All members, in the order of writing. Each has its help, range and unit.
const std::vector<SetupField>& setupFields();

/// @param other_names  other names that the caller accepts, considered when suggesting the nearest name
/// @throws Error (usage) with the nearest known name
const SetupField& findSetupField(std::string_view key, const std::vector<std::string>& other_names = {});

}  // namespace roper
