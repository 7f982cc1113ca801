#include "core/training/batch_stream.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "core/corpus/open_task.h"

namespace roper {
namespace {

Specification smallRun(const std::string& task) {
    Specification s;
    s.task.name = task;
    s.training.batch = 3;
    s.training.length = 50;
    return s;
}

TEST(BatchStream, IsWhatMakeBatchMakesInOrder) {
    for (const TaskKind& kind : taskKinds()) {
        if (kind.is_text) continue;
        const std::string& name = kind.name;
        const Specification s = smallRun(name);
        const auto task = openTask(s.task);
        constexpr std::uint64_t kFirst = 7;
        BatchStream stream(*task, s, kFirst);
        for (std::uint64_t i = 0; i < 10; ++i) {
            const Batch expected = makeBatch(*task, s, Stream::training, kFirst + 3 * i, 3),
                        got = stream.next();
            EXPECT_TRUE(got.inputs.equal(expected.inputs)) << name << ", batch " << i;
            EXPECT_TRUE(got.targets.equal(expected.targets)) << name << ", batch " << i;
        }
    }
}

TEST(BatchStream, EndsWhileBatchesWait) {
    const Specification s = smallRun("addition");
    const auto task = openTask(s.task);
    for (int i = 0; i < 20; ++i) {
        BatchStream stream(*task, s, 0);
        if (i % 2 == 0) stream.next();
    }
}

/// A task that runs out of text.
class EndingTask : public Task {
  public:
    explicit EndingTask(std::uint64_t end)
        : Task(openTask(smallRun("addition").task)->vocabulary()),
          task_(openTask(smallRun("addition").task)),
          end_(end) {}

    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const override {
        if (index >= end_) throw std::runtime_error("the text has ended");
        return task_->sequence(seed, stream, index, length);
    }
    bool hasProblems() const override { return false; }

  private:
    std::unique_ptr<Task> task_;
    std::uint64_t end_;
};

TEST(BatchStream, PassesOnWhatWentWrongAfterWhatWentWell) {
    const Specification s = smallRun("addition");
    const EndingTask task(7);  // enough for two batches of three, but not for a third
    BatchStream stream(task, s, 0);
    stream.next();
    stream.next();
    EXPECT_THROW(stream.next(), std::runtime_error);
    EXPECT_THROW(stream.next(), std::runtime_error) << "and again, rather than waiting for ever";
}

}  // namespace
}  // namespace roper
