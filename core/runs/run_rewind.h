#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// What a checkpoint says of the training until then.
struct TrainedUntil {
    std::int64_t step = 0;
    std::int64_t tokens = 0;
    double time_s = 0;
    std::int64_t report_every = 0;  ///< steps from row to row; 0 if that is not known for all of them
};

/// Brings a run back to its checkpoint, so that it can go on from there: rows and snapshots of later steps
/// are dropped, since they will be computed again. On its way it looks at what is kept. Rows that stand twice
/// or cannot be read go; what they and missing rows said is taken from the events for TensorBoard, and the
/// other way round. A file that held something unreadable is kept beside the new one under a name that ends
/// in ".damaged". The events for TensorBoard are appended to, unless something in them is damaged or missing.
/// @returns  a sentence for a person about each repair, and about rows that are missing for good
/// @throws Error (disk), Error (usage) if a file of rows is not one at all
std::vector<std::string> rewindRun(const RunFolder& folder, const TrainedUntil& until);

}  // namespace roper
