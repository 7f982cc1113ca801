#pragma once

#include "core/runs/run_folder.h"

namespace roper {

/// Moves a run's folder to the desktop's trash. @returns whether it was; if not, nothing has changed
bool moveToTrash(const RunFolder& run);

}  // namespace roper
