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

/// The specification for one of several processes: each uses its share of this machine's cores unless the
/// number of threads is specified.
Specification withThreadShare(std::int64_t processes, Specification specification);

/// The part of a batch for one of `size` processes, which divide it as evenly as possible.
Shard shardOf(std::int64_t batch, int rank, int size);

/// Combines the gradients and losses of all processes as if one had computed the whole batch. A batch's loss
/// is the mean over all its targets, so gᵣ, the gradient of process r, is weighted by nᵣ, its number of
/// targets: g = Σᵣ nᵣ gᵣ / Σᵣ nᵣ.
/// Gradients are summed by NCCL if each process has its own GPU, otherwise by Gloo. Losses are always summed
/// by Gloo, which detects an ended process before a GPU would wait for it.
class GradientAllReduce : public GradientReducer {
  public:
    /// Must be constructed in all processes at the same time. @throws Error (other) if their GPUs cannot be
    /// joined
    /// @param device  opened by this process
    GradientAllReduce(ProcessGroup& group, at::Device device);

    /// How gradients are summed: a line for the run's log; empty on CPUs, where there is only one way.
    const std::string& note() const { return note_; }

    double averageLoss(double loss, const at::Tensor& targets) override;
    void averageGradients(at::Tensor& gradients) override;

  private:
    ProcessGroup& group_;
    std::unique_ptr<GpuGroup> gpus_;  ///< null: Gloo sums gradients
    std::string note_;
    double target_fraction_ = 1;  ///< this process's fraction of the batch's targets
};

/// Broadcasts the weights, moments and position of rank 0 to all processes.
void broadcastState(ProcessGroup& group, Transformer& model, AdamW& optimizer, TrainingPosition& position);

}  // namespace roper
