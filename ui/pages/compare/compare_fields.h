#pragma once

#include <vector>

#include "core/fields/field.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// The settings of a comparison, named as on the command line.
const std::vector<Field<CompareSettings>>& compareFields();

}  // namespace roper
