#pragma once

#include <vector>

#include "core/fields/field.h"
#include "ui/pages/compare/compare_state.h"

namespace roper {

/// What can be asked of the runs, under the names of the command line.
const std::vector<Field<CompareQuestion>>& compareFields();

}  // namespace roper
