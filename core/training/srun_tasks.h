#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/distributed/process_group.h"
#include "core/runs/run_folder.h"

namespace roper {

// The processes of a run, all started by Slurm's srun with the same command. The first announces its address
// in the run's folder, which all processes share.

/// The rank of this process (SLURM_PROCID), and the number of processes, started by srun.
struct SrunTask {
    int rank = 0, size = 1;
};
/// This process's rank; nullopt if srun did not start it, or started it alone.
/// @param processes  number that are to train the run together; for 1 the result is always nullopt
/// @throws Error (usage) if srun has started another number of processes
std::optional<SrunTask> srunTask(std::int64_t processes);

/// The rank of a process among those of its group on its machine, from 0, which selects its GPU. If srun has
/// not started them, all are on one machine.
int localRank(int rank, int size);

/// Announces the address at which the first process waits for the others.
void announceAddress(const RunFolder& folder, const Address& at);

/// Announces that the first process has ended before connecting, with the reason and its exit code.
void announceEnd(const RunFolder& folder, const std::string& why, int exit_code);

/// Removes the announcement when all have read it.
void removeAnnouncement(const RunFolder& folder);

/// Waits for the address of the first process, which may first prepare a text or wait for another trainer.
/// @returns nullopt if that process has ended without an error
/// @throws the Error with which it has ended; Error (other) after half an hour, or if there is no such run
std::optional<Address> awaitAddress(const RunFolder& folder);

}  // namespace roper
