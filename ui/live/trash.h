#pragma once

#include <optional>

#include "core/runs/run_folder.h"

namespace roper {

/// Original path of a run's folder, and its path in the desktop's trash.
struct TrashedRun {
    std::filesystem::path before, now;
};

/// Moves a run's folder to the desktop's trash. @returns where it is; nothing, and nothing changed, if that
/// failed
std::optional<TrashedRun> moveToTrash(const RunFolder& run);

/// Restores it from the trash. @throws Error (disk, usage) if it is no longer there, or its name is taken
void restoreFromTrash(const TrashedRun& run);

}  // namespace roper
