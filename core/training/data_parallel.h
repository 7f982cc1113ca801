#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/distributed/process_group.h"
#include "core/operators/gpu.h"
#include "core/runs/run_folder.h"
#include "core/training/batch_stream.h"
#include "core/training/checkpoint.h"
#include "core/training/optimizer.h"
#include "core/training/step.h"

namespace roper {

/// A specification as several processes train it: each with its share of this machine's cores where nothing
/// else is said.
Specification sharedBy(std::int64_t processes, Specification specification);

/// Of `size` processes that share a batch as evenly as it goes, the part of one.
Shard shardOf(std::int64_t batch, int rank, int size);

/// Puts the gradients and losses of all processes together, as if one had computed the whole batch: its loss
/// is the mean over all targets, so that each process counts as many as it has, g = Σᵣ nᵣ gᵣ / Σᵣ nᵣ. Where
/// each process has a GPU of its own, these add up the gradients (NCCL); else Gloo does. Losses go by Gloo
/// always, which notices who is gone before a GPU would wait for it.
class SharedGradients : public GradientSum {
  public:
    /// All processes make one at the same time. @throws Error (other) if their GPUs cannot be joined
    /// @param device  which this process has opened
    SharedGradients(ProcessGroup& group, at::Device device);

    /// How gradients are added up: a line for the run's log; nothing on CPUs, where there is one way.
    const std::string& note() const { return note_; }

    double begin(double loss, const at::Tensor& targets) override;
    void sum(at::Tensor& gradients) override;

  private:
    ProcessGroup& group_;
    std::unique_ptr<GpuGroup> gpus_;  ///< null: the group sums
    std::string note_;
    double share_ = 1;  ///< of the batch's targets that are ours
};

/// Gives all processes the weights, moments and position of rank 0.
void shareState(ProcessGroup& group, Transformer& model, AdamW& optimizer, TrainingPosition& position);

/// The other processes of a run, as its first one sees them. They do as they are told, and write nothing.
class Followers {
  public:
    /// Starts `processes` − 1 on this machine, or, where srun has started all of them, waits for those.
    /// @param folder  of the run
    /// @throws Error (usage) for more processes than a batch has sequences; Error (other) if they do not
    /// come together
    Followers(std::int64_t processes, const RunFolder& folder, const Specification& specification);
    /// Lets them go.
    ~Followers();
    Followers(const Followers&) = delete;
    Followers& operator=(const Followers&) = delete;

    ProcessGroup& group() { return *group_; }

    /// They take so many steps, as this process is about to.
    void step(std::int64_t count);
    /// They take over the state of this process.
    void takeOver(Transformer& model, AdamW& optimizer, TrainingPosition& position);

  private:
    void order(std::int64_t what);

    std::unique_ptr<ProcessGroup> group_;
    std::vector<pid_t> children_;
};

/// The place of this process among those that srun has started (SLURM_PROCID); nothing where it has started
/// one, or this is none of its.
struct SlurmRank {
    int rank = 0, size = 1;
};
/// @param processes  that are to train the run together; for one it is nothing, whatever srun has started
/// @throws Error (usage) if srun has started another number of them
std::optional<SlurmRank> slurmRank(std::int64_t processes);

/// The place of a process among those of a run on its machine, from 0 on (SLURM_LOCALID): by it they take
/// GPUs.
/// @param rank  where srun has not started them: all are on one machine
int rankOnThisMachine(int rank);

}  // namespace roper
