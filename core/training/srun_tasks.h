#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/distributed/address.h"
#include "core/runs/run_folder.h"

namespace roper {

// The processes of a run where srun has started all of them, each with the same command. The first says in
// the run's folder, which all of them share, where it waits.

/// The place of this process among those that srun has started (SLURM_PROCID); nothing where it has started
/// one, or this is none of its.
struct SrunTask {
    int rank = 0, size = 1;
};
/// @param processes  that are to train the run together; for one it is nothing, whatever srun has started
/// @throws Error (usage) if srun has started another number of them
std::optional<SrunTask> srunTask(std::int64_t processes);

/// The place of a process among those of its group on its machine, from 0 on: by it they take GPUs. Where
/// srun has not started them, all are on one machine.
int localRank(int rank, int size);

/// Says where the first process waits for the others.
void announceAddress(const RunFolder& folder, const Address& at);

/// Tells the others that the first has ended before it connected with them, why, and its exit code.
void announceEnd(const RunFolder& folder, const std::string& why, int exit_code);

/// What is announced is taken back: all know it.
void removeAnnouncement(const RunFolder& folder);

/// Waits until the first process, which may prepare a text or wait for another trainer, has said where it
/// waits. @returns nothing if it has ended without an error
/// @throws Error with which it has ended; Error (other) after half an hour, or where there is no such run
std::optional<Address> awaitAddress(const RunFolder& folder);

}  // namespace roper
