#include "core/training/data_parallel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "core/base/available.h"
#include "core/base/error.h"
#include "core/base/this_process.h"
#include "core/training/srun_tasks.h"

namespace roper {
namespace {

/// Whether each process of a group has its own GPU; to be called by all of them. For experiments, NCCL can be
/// configured to let several processes share a GPU.
/// @param gpu  UUID of this process's GPU; empty: it uses none
bool eachHasOwnGpu(ProcessGroup& group, const std::string& gpu) {
    constexpr const char* kNone = "none";
    const auto name = [](int rank) { return "GPU of " + std::to_string(rank); };
    group.set(name(group.rank()), gpu.empty() ? kNone : gpu);
    std::set<std::string> gpus;
    for (int rank = 0; rank < group.size(); ++rank)
        gpus.insert(group.get(name(rank)));
    const bool may_share = environmentVariable("NCCL_MULTI_RANK_GPU_ENABLE") == "1";
    return !gpus.contains(kNone) && (may_share || static_cast<int>(gpus.size()) == group.size());
}

}  // namespace

Specification withThreadShare(std::int64_t processes, Specification specification) {
    if (processes == 1) return specification;
    const auto cores = std::int64_t{usableCores()};
    if (specification.device.threads == 0 && !srunTask(processes))
        specification.device.threads = std::max<std::int64_t>(1, cores / processes);
    return specification;
}

Shard shardOf(std::int64_t batch, int rank, int size) {
    const std::int64_t first = batch * rank / size;
    return {first, batch * (rank + 1) / size - first};
}

GradientAllReduce::GradientAllReduce(ProcessGroup& group, at::Device device) : group_(group) {
    const bool on_gpu = gpu() != nullptr && gpu()->deviceType() == device.type();
    const bool each_has_own_gpu = eachHasOwnGpu(group, on_gpu ? gpu()->uuid() : "");
    if (each_has_own_gpu) {
        constexpr const char* kName = "GPUs";
        try {
            if (group.rank() == 0) group.set(kName, gpu()->createGroupId());
            gpus_ = gpu()->join(group.get(kName), group.rank(), group.size());
        } catch (const c10::Error& error) {
            throw Error(ErrorKind::other,
                        std::string(error.what_without_backtrace()) +
                            ". With device.kernel = plain, gradients are summed by the hosts.");
        }
        note_ = "gradients are summed by NCCL, each process on its own GPU";
    } else if (!device.is_cpu()) {
        note_ = "gradients are summed by the hosts, because " +
                std::string(on_gpu ? "several processes share a GPU" : "our own CUDA kernels are not used");
    }
}

double GradientAllReduce::averageLoss(double loss, const at::Tensor& targets) {
    const double ours = targets.ne(kIgnoreIndex).sum().item<double>();
    at::Tensor sums = at::tensor({ours > 0 ? loss * ours : 0.0, ours}, at::kDouble);
    group_.allReduce(sums);
    const double all = sums[1].item<double>();
    target_fraction_ = ours / all;
    return sums[0].item<double>() / all;
}

void GradientAllReduce::averageGradients(at::Tensor& gradients) {
    gradients.mul_(target_fraction_);
    if (!gpus_) return group_.allReduce(gradients);
    try {
        gpus_->allReduce(gradients);
    } catch (const c10::Error& error) {
        group_.throwReportedFailure();
        throw Error(ErrorKind::preempted, error.what_without_backtrace());
    }
}

void broadcastState(ProcessGroup& group, Transformer& model, AdamW& optimizer, TrainingPosition& position) {
    const at::NoGradGuard no_gradients;
    for (std::size_t i = 0; i < model.parameters().size(); ++i) {
        const AdamW::Moments moments = optimizer.moments(i);
        for (at::Tensor tensor : {model.parameters()[i].second.detach(), moments.mean, moments.square})
            group.broadcast(tensor);
    }
    at::Tensor numbers = at::tensor(
        {position.step, static_cast<std::int64_t>(position.next_sequence), optimizer.stepsDone()}, at::kLong);
    group.broadcast(numbers);
    position.step = numbers[0].item<std::int64_t>();
    position.next_sequence = static_cast<std::uint64_t>(numbers[1].item<std::int64_t>());
    optimizer.setStepsDone(numbers[2].item<std::int64_t>());
}

}  // namespace roper
