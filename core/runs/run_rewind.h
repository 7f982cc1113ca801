#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// Brings a run back to a step, at which it has a checkpoint, so that it can go on from there: rows and
/// snapshots of later steps are dropped, since they will be computed again. On its way it looks at what is
/// kept. Rows that stand twice or cannot be read go; what they and missing rows said is taken from the events
/// for TensorBoard, and the other way round. A file that held something unreadable is kept beside the new one
/// under a name that ends in ".damaged".
/// @returns  a sentence for a person about each repair, and about rows that are missing for good
/// @throws Error (disk), Error (usage) if a file of rows is not one at all
std::vector<std::string> rewindRun(const RunFolder& folder, std::int64_t step);

}  // namespace roper
