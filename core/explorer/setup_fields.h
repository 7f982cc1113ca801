#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explorer/setup.h"
#include "core/fields/field.h"

namespace roper {

/// One member of a Setup under the name that texts and `--set` use.
using SetupField = Field<Setup>;

/// All members, in the order in which they are written. Each holds its help, range and unit.
const std::vector<SetupField>& setupFields();

/// @param others  further names that would be known where it was given
/// @throws Error (usage) with the nearest known name
const SetupField& findSetupField(std::string_view key, const std::vector<std::string>& others = {});

}  // namespace roper
