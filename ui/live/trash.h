#pragma once

#include <optional>

#include "core/runs/run_folder.h"

namespace roper {

/// Where a run's folder was, and where it is in the desktop's trash.
struct TrashedRun {
    std::filesystem::path before, now;
};

/// Moves a run's folder to the desktop's trash. @returns where it is; nothing if it could not be moved, and
/// then nothing has changed
std::optional<TrashedRun> moveToTrash(const RunFolder& run);

/// Takes it out of the trash again. @throws Error (disk, usage) if it is no longer there, or another run has
/// its name now
void takeFromTrash(const TrashedRun& run);

}  // namespace roper
