#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/distributed/process_group.h"
#include "core/operators/gpu.h"
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

    double averageLoss(double loss, const at::Tensor& targets) override;
    void averageGradients(at::Tensor& gradients) override;

  private:
    ProcessGroup& group_;
    std::unique_ptr<GpuGroup> gpus_;  ///< null: the group sums
    std::string note_;
    double share_ = 1;  ///< of the batch's targets that are ours
};

/// Gives all processes the weights, moments and position of rank 0.
void broadcastState(ProcessGroup& group, Transformer& model, AdamW& optimizer, TrainingPosition& position);

}  // namespace roper
