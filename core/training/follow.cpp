#include "core/training/follow.h"

#include <signal.h>

#include <chrono>
#include <optional>
#include <thread>

#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/this_process.h"
#include "core/corpus/open_task.h"
#include "core/model/device.h"
#include "core/operators/threads.h"
#include "core/operators/translate_errors.h"
#include "core/training/batch_stream.h"
#include "core/training/data_parallel.h"
#include "core/training/followers.h"
#include "core/training/loaded_model.h"
#include "core/training/srun_tasks.h"
#include "core/training/stepper.h"

namespace roper {
namespace {

/// Makes the model and executes the commands of rank 0.
void executeCommands(ProcessGroup& group) {
    const Specification specification =
        parseSpecification(group.get(kSpecificationKey), "the first process's specification");
    const RunFolder folder(group.get(kFolderKey));
    setThreads(specification.device.threads);
    const std::unique_ptr<Task> task = openTask(specification.task, folder);
    const at::Device device = openDevice(specification.device, localRank(group.rank(), group.size())).device;
    const DedicatedStream stream(device);
    Transformer model(specification, modelVocabularySize(*task, specification), device);
    AdamW optimizer(model.parameters(), specification.training);
    group.set(readyKey(group.rank()), "");
    while (!group.has(kAllReadyKey))
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    group.connect();
    // From now on only the first process decides when to end, since it must save; this process ends with it.
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    TrainingPosition position;
    std::optional<BatchStream> batches;
    std::unique_ptr<Stepper> stepper;
    GradientAllReduce gradients(group, device);
    while (true) {
        at::Tensor number = at::zeros({1}, at::kLong);
        group.broadcast(number);
        const auto command = number.item<std::int64_t>();
        if (command == kEnd) return;
        if (command != kReceiveState) {
            stepper->advance(command);
            continue;
        }
        stepper.reset();
        batches.reset();
        broadcastState(group, model, optimizer, position);
        batches.emplace(*task, specification, position.next_sequence,
                        shardOf(specification.training.batch, group.rank(), group.size()));
        model.selectAttentionBackend(specification.training.batch, specification.inputLength());
        stepper = makeStepper({model, optimizer, *batches, specification, device, &gradients, group.rank()},
                              position.step);
    }
}

}  // namespace

void followRun(const Address& first, int rank, int size) {
    keepFreedHeapMemory();
    translateErrors([&] {
        const std::unique_ptr<ProcessGroup> group = ProcessGroup::join(first, rank, size);
        try {
            translateErrors([&] { executeCommands(*group); });
        } catch (const Error& error) {
            // The final result and exit code are those of the first process.
            if (error.kind() == ErrorKind::preempted) return reportToUser(error.what());
            group->reportFailure(Error(
                error.kind(), "process " + std::to_string(rank) + " on " + thisHost() + ": " + error.what()));
            throw;
        }
    });
}

bool followIfSrunTask(const RunFolder& folder, std::int64_t processes) {
    const auto task = srunTask(processes);
    if (!task || task->rank == 0) return false;
    if (const auto first = awaitAddress(folder)) followRun(*first, task->rank, task->size);
    return true;
}

}  // namespace roper
