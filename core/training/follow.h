#pragma once

#include <cstdint>

#include "core/distributed/address.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Takes part in training a run as another process than the first, whose `trainRun` has several of them and
/// waits at this address, until the first ends it. @throws Error, which the first process is told
void followRun(const Address& first, int rank, int size);

/// The same where srun has started all processes of the run and this is not the first.
/// @returns whether it was so; otherwise nothing is done
bool followAmongTasks(const RunFolder& folder, std::int64_t processes);

}  // namespace roper
