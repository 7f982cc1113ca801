#pragma once

#include "core/runs/run_folder.h"

namespace roper {

/// Moves a run's folder to the desktop's wastebasket. @returns whether it was; if not, nothing has changed
bool moveToWastebasket(const RunFolder& run);

}  // namespace roper
