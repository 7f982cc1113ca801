#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// State of the training at a checkpoint.
struct RewindPoint {
    std::int64_t step = 0;
    std::int64_t tokens = 0;        ///< training tokens so far
    double time_s = 0;              ///< training time in seconds
    std::int64_t report_every = 0;  ///< steps between rows; 0 if this has changed or is unknown
};

/// Rewinds a run to its checkpoint, so that it can continue from there: rows and snapshots of later steps are
/// dropped, since they will be computed again. It also checks and repairs the files. Duplicate or malformed
/// rows are removed; their data and missing rows are restored from the TensorBoard events, and vice versa. A
/// file with unreadable content is kept next to the new one under a name that ends in ".damaged". The
/// TensorBoard events are appended to, unless some are damaged or missing.
/// @returns  a sentence for the user about each repair, and about rows that are lost
/// @throws Error (disk), Error (usage) if a file of rows has another format
std::vector<std::string> rewindRun(const RunFolder& folder, const RewindPoint& target);

}  // namespace roper
