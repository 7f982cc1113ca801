#include "core/training/data_parallel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/specification/presets.h"
#include "core/tasks/task_kind.h"
#include "core/training/batches.h"
#include "core/training/queued_stepper.h"
#include "core/training/srun_tasks.h"
#include "tests/support/expect_error.h"
#include "tests/support/fake_gpu.h"

namespace roper {
namespace {

// LibTorch records collectives in one map of the program, which it changes without a lock (seen in 2.11).
// A trainer is one process of its group; these tests run several in one program, so they do not record.
[[maybe_unused]] const bool is_recorder_off = ::setenv("TORCH_FR_BUFFER_SIZE", "0", 1) == 0;

Specification small(const std::string& position, std::int64_t batch) {
    Specification specification = loadPreset("addition-small").specification;
    applySetting(specification, "model.position=" + position);
    applySetting(specification, "model.width=16");
    applySetting(specification, "model.heads=2");
    applySetting(specification, "model.layers=2");
    applySetting(specification, "model.feed_forward=16");
    applySetting(specification, "model.dropout=0");
    applySetting(specification, "training.batch=" + std::to_string(batch));
    applySetting(specification, "device.kernel=plain");
    return specification;
}

/// Results of five steps in one of several processes, and its final weights.
struct Trained {
    std::vector<StepResult> steps;
    std::vector<at::Tensor> weights;
};

Trained train(const Specification& specification, at::ScalarType type, ProcessGroup* group) {
    const auto task = makeTask(specification.task);
    Transformer model(specification, modelVocabularySize(*task, specification), at::kCPU, type);
    AdamW optimizer(model.parameters(), specification.training);
    std::optional<GradientAllReduce> together;
    Shard shard{0, specification.training.batch};
    if (group != nullptr) {
        together.emplace(*group, at::kCPU);
        shard = shardOf(specification.training.batch, group->rank(), group->size());
    }
    Trained trained;
    for (std::int64_t step = 1; step <= 5; ++step) {
        const auto first =
            static_cast<std::uint64_t>((step - 1) * specification.training.batch + shard.first);
        const Batch batch = makeBatch(*task, specification, Stream::training, first, shard.count);
        trained.steps.push_back(trainStep(model, optimizer, batch, specification.training, step, at::kCPU,
                                          together ? &*together : nullptr));
    }
    for (const NamedParameter& parameter : model.parameters())
        trained.weights.push_back(parameter.second.detach().clone());
    return trained;
}

/// The same with `size` processes, simulated by threads.
std::vector<Trained> trainTogether(const Specification& specification, at::ScalarType type, int size) {
    const auto leader = ProcessGroup::create(size, /*is_single_machine=*/true);
    std::vector<Trained> trained(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 1; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            const auto group = ProcessGroup::join(leader->address(), rank, size);
            group->connect();
            trained[static_cast<std::size_t>(rank)] = train(specification, type, group.get());
        });
    leader->connect();
    trained[0] = train(specification, type, leader.get());
    for (std::thread& thread : threads)
        thread.join();
    return trained;
}

double largestDifference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, (a[i] - b[i]).abs().max().item<double>());
    return largest;
}

TEST(DataParallel, ProcessesComputeInFloat64WhatOneDoes) {
    for (const char* position : {"rope", "roper", "t5"}) {
        const Specification specification = small(position, 6);
        const Trained alone = train(specification, at::kDouble, nullptr);
        for (const int size : {2, 3, 4}) {  // six sequences cannot be divided evenly by four
            const std::vector<Trained> together = trainTogether(specification, at::kDouble, size);
            for (const Trained& one : together) {
                for (std::size_t step = 0; step < alone.steps.size(); ++step) {
                    EXPECT_NEAR(one.steps[step].loss, alone.steps[step].loss, 1e-10) << position << size;
                    EXPECT_NEAR(one.steps[step].gradient_norm, alone.steps[step].gradient_norm, 1e-10);
                }
                EXPECT_LT(largestDifference(one.weights, alone.weights), 1e-10);
            }
            EXPECT_EQ(largestDifference(together.front().weights, together.back().weights), 0);
        }
    }
}

TEST(DataParallel, Float32DiffersByRoundingAlone) {
    const Specification specification = small("roper", 8);
    const Trained alone = train(specification, at::kFloat, nullptr);
    const std::vector<Trained> together = trainTogether(specification, at::kFloat, 2);
    for (std::size_t step = 0; step < alone.steps.size(); ++step)
        EXPECT_NEAR(together[0].steps[step].loss, alone.steps[step].loss, 1e-5);
    EXPECT_EQ(largestDifference(together[0].weights, together[1].weights), 0);
}

// Sequences of a masked model have different numbers of targets, by which the mean of each process is
// weighted.
TEST(DataParallel, AMeanOverUnequalNumbersOfTargetsIsThatOfTheWholeBatch) {
    Specification specification = small("rope", 5);
    applySetting(specification, "training.objective=masked");
    applySetting(specification, "training.masked_share=0.3");
    const Trained alone = train(specification, at::kDouble, nullptr);
    const std::vector<Trained> together = trainTogether(specification, at::kDouble, 2);
    for (std::size_t step = 0; step < alone.steps.size(); ++step)
        EXPECT_NEAR(together[1].steps[step].loss, alone.steps[step].loss, 1e-10);
    EXPECT_LT(largestDifference(together[0].weights, alone.weights), 1e-10);
}

TEST(DataParallel, ABatchIsSharedWithoutGapOrOverlap) {
    for (int size = 1; size <= 7; ++size) {
        std::int64_t next = 0;
        for (int rank = 0; rank < size; ++rank) {
            const Shard shard = shardOf(7, rank, size);
            EXPECT_EQ(shard.first, next);
            EXPECT_GE(shard.count, 1);
            next += shard.count;
        }
        EXPECT_EQ(next, 7);
    }
}

TEST(DataParallel, TheStateOfTheFirstProcessIsTakenOver) {
    const Specification specification = small("roper", 4);
    const auto task = makeTask(specification.task);
    const auto leader = ProcessGroup::create(2, true);
    const auto make = [&](std::int64_t seed) {
        Specification other = specification;
        other.training.model_seed = seed;
        return std::make_unique<Transformer>(other, modelVocabularySize(*task, other), at::kCPU);
    };
    const auto first = make(1), second = make(2);
    AdamW first_optimizer(first->parameters(), specification.training),
        second_optimizer(second->parameters(), specification.training);
    first_optimizer.setStepsDone(7);
    first_optimizer.moments(0).mean.fill_(0.25);
    TrainingPosition theirs;
    std::thread follower([&] {
        const auto group = ProcessGroup::join(leader->address(), 1, 2);
        group->connect();
        broadcastState(*group, *second, second_optimizer, theirs);
    });
    leader->connect();
    TrainingPosition ours{7, 700, 28, 1.5};
    broadcastState(*leader, *first, first_optimizer, ours);
    follower.join();
    for (std::size_t i = 0; i < first->parameters().size(); ++i)
        EXPECT_TRUE(at::equal(first->parameters()[i].second, second->parameters()[i].second));
    EXPECT_EQ(second_optimizer.moments(0).mean.min().item<double>(), 0.25);
    EXPECT_EQ(second_optimizer.stepsDone(), 7);
    EXPECT_EQ(theirs.step, 7);
    EXPECT_EQ(theirs.next_sequence, 28U);
}

TEST(DataParallel, WhoeverIsGoneIsNoticed) {
    const auto leader = ProcessGroup::create(2, true);
    std::latch together(2);
    std::thread follower([&] {
        const auto group = ProcessGroup::join(leader->address(), 1, 2);
        group->connect();
        together.arrive_and_wait();
    });
    leader->connect();
    together.arrive_and_wait();
    follower.join();
    at::Tensor numbers = at::ones({3});
    expectError(ErrorKind::preempted, "has ended or does not respond", [&] { leader->allReduce(numbers); });
}

// Rank 0 may still be connecting when the other process ends, so that connect() may throw, too.
TEST(DataParallel, TheErrorOfAnotherIsThrownByRank0) {
    const auto leader = ProcessGroup::create(2, true);
    const std::jthread follower([&] {
        const auto group = ProcessGroup::join(leader->address(), 1, 2);
        group->connect();
        group->reportFailure(Error(ErrorKind::memory, "process 1 on node3: no memory is left"));
    });
    at::Tensor numbers = at::ones({3});
    expectError(ErrorKind::memory, "process 1 on node3: no memory is left", [&] {
        leader->connect();
        leader->broadcast(numbers);
    });
}

TEST(DataParallel, AnInterfaceThatIsNotThereIsNamed) {
    ::setenv("GLOO_SOCKET_IFNAME", "nowhere0", 1);
    const auto leader = ProcessGroup::create(1, /*is_single_machine=*/false);
    expectError(ErrorKind::other, "nowhere0", [&] { leader->connect(); });
    ::unsetenv("GLOO_SOCKET_IFNAME");
}

TEST(DataParallel, ProcessesShareTheCoresOfAMachine) {
    Specification specification = small("rope", 4);
    specification.device.threads = 0;
    EXPECT_EQ(withThreadShare(1, specification).device.threads, 0);
    EXPECT_EQ(withThreadShare(1000, specification).device.threads, 1);
    specification.device.threads = 3;
    EXPECT_EQ(withThreadShare(1000, specification).device.threads, 3);
}

TEST(DataParallel, SrunStartsAsManyAsAreToTrain) {
    EXPECT_FALSE(srunTask(2));
    ::setenv("SLURM_PROCID", "1", 1);
    ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    EXPECT_EQ(srunTask(2).value().rank, 1);
    EXPECT_FALSE(srunTask(1));
    // GPUs are assigned by the local rank, but only if srun has started these processes.
    ::setenv("SLURM_LOCALID", "0", 1);
    EXPECT_EQ(localRank(1, 2), 0);
    ::unsetenv("SLURM_STEP_NUM_TASKS");
    EXPECT_EQ(localRank(1, 2), 1);
    ::unsetenv("SLURM_LOCALID");
    ::setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    expectError(ErrorKind::usage, "srun started 2 processes, but --processes is 3", [] { srunTask(3); });
    ::unsetenv("SLURM_PROCID");
    ::unsetenv("SLURM_STEP_NUM_TASKS");
}

/// GPUs that compute together; each is simulated by the CPU in its own thread.
class JoiningGpu final : public FakeGpu {
  public:
    explicit JoiningGpu(bool is_one) : is_one_(is_one) {}

    /// A different id for each thread, or the same for all.
    std::string uuid() const override {
        std::ostringstream id;
        id << std::this_thread::get_id();
        return is_one_ ? "the only one" : id.str();
    }

    std::unique_ptr<GpuGroup> join(const std::string& group, int /*rank*/, int size) const override {
        EXPECT_EQ(group, createGroupId());
        struct Sum final : GpuGroup {
            Sum(const JoiningGpu& from, int size) : gpu(from), count(size) {}
            void allReduce(at::Tensor& numbers) override { numbers.copy_(gpu.sumOf(numbers, count)); }
            const JoiningGpu& gpu;
            int count;
        };
        return std::make_unique<Sum>(*this, size);
    }

    mutable int sums = 0;

  private:
    at::Tensor sumOf(const at::Tensor& numbers, int size) const {
        std::unique_lock lock(mutex_);
        if (parts_.empty()) arrived_.emplace(size);
        std::latch& arrived = *arrived_;
        parts_.push_back(numbers.clone());
        lock.unlock();
        arrived.arrive_and_wait();
        lock.lock();
        ++sums;
        return at::stack(parts_).sum(0);
    }

    bool is_one_;
    mutable std::mutex mutex_;
    mutable std::optional<std::latch> arrived_;
    mutable std::vector<at::Tensor> parts_;
};

/// Combines gradients of 1 and 4, with one and three targets, from two processes simulated by threads.
std::vector<double> sumOnGpus(const std::shared_ptr<JoiningGpu>& joining) {
    const ScopedGpu used(joining);
    const auto leader = ProcessGroup::create(2, true);
    std::vector<double> sums(2);
    const auto sum = [&](ProcessGroup& group, double gradient, std::int64_t targets) {
        group.connect();
        GradientAllReduce shared(group, at::kCPU);
        EXPECT_EQ(shared.averageLoss(gradient, at::zeros({targets}, at::kLong)), (1 + 3 * 4) / 4.0);
        at::Tensor gradients = at::full({5}, gradient, at::kDouble);
        shared.averageGradients(gradients);
        sums[static_cast<std::size_t>(group.rank())] = gradients[4].item<double>();
    };
    std::thread follower([&] { sum(*ProcessGroup::join(leader->address(), 1, 2), 4, 3); });
    sum(*leader, 1, 1);
    follower.join();
    return sums;
}

TEST(DataParallel, GpusAddUpGradientsWhereEachProcessHasItsOwn) {
    const auto joining = std::make_shared<JoiningGpu>(/*is_one=*/false);
    EXPECT_EQ(sumOnGpus(joining), (std::vector<double>{3.25, 3.25}));
    EXPECT_EQ(joining->sums, 2);
}

TEST(DataParallel, WhereProcessesShareAGpuTheGroupAddsUp) {
    const auto joining = std::make_shared<JoiningGpu>(/*is_one=*/true);
    EXPECT_EQ(sumOnGpus(joining), (std::vector<double>{3.25, 3.25}));
    EXPECT_EQ(joining->sums, 0);
}

TEST(DataParallel, GpusThatCannotBeJoinedSayWhatToDo) {
    struct Unwilling final : FakeGpu {
        std::string uuid() const override { return "one of one"; }
    };
    const ScopedGpu used(std::make_shared<Unwilling>());
    const auto leader = ProcessGroup::create(1, true);
    leader->connect();
    expectError(ErrorKind::other, "joins no others. With device.kernel = plain",
                [&] { GradientAllReduce shared(*leader, at::kCPU); });
}

// A captured step would have to wait for other processes in the middle of a graph.
TEST(DataParallel, StepsTogetherAreNotCaptured) {
    const Specification specification = small("rope", 4);
    const auto task = makeTask(specification.task);
    Transformer model(specification, modelVocabularySize(*task, specification), at::kCPU);
    AdamW optimizer(model.parameters(), specification.training);
    BatchStream batches(*task, specification, 0);
    const auto leader = ProcessGroup::create(1, true);
    leader->connect();
    GradientAllReduce shared(*leader, at::kCPU);
    const ScopedGpu used(std::make_shared<FakeGpu>());
    const auto isQueued = [&](GradientReducer* together) {
        const auto stepper = makeStepper({model, optimizer, batches, specification, at::kCPU, together}, 0);
        return dynamic_cast<QueuedStepper*>(stepper.get()) != nullptr;
    };
    EXPECT_TRUE(isQueued(nullptr));
    EXPECT_FALSE(isQueued(&shared));
}

}  // namespace
}  // namespace roper
