#pragma once

#include <cstdint>

#include "core/distributed/process_group.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Takes part in training as a process of rank > 0, whose first process (`trainRun`) waits at this address,
/// until the first process ends it. @throws Error, which is also reported to the first process
void followRun(const Address& first, int rank, int size);

/// The same if srun has started all processes of the run and this is not the first.
/// @returns whether this was the case; otherwise nothing is done
bool followIfSrunTask(const RunFolder& folder, std::int64_t processes);

}  // namespace roper
