#include "core/training/evaluation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/training/batches.h"

namespace roper {
namespace {

Specification small(const std::string& task) {
    Specification s;
    s.task.name = task;
    s.model.width = 32;
    s.model.layers = 1;
    s.model.heads = 2;
    s.model.feed_forward = 32;
    s.training.batch = 4;
    s.evaluation.problems = 10;
    return s;
}

TEST(Evaluation, IsTheSameTwiceAndDrawsNothing) {
    for (const char* name : {"addition", "index", "prefix"}) {
        const Specification s = small(name);
        const auto task = makeTask(s.task);
        Transformer model(s, task->vocabulary().size(), at::kCPU);
        at::manual_seed(1);
        const at::Tensor before = at::globalContext().defaultGenerator(at::kCPU).get_state().clone();
        const Evaluation first = Evaluator(*task, s).evaluate(model, 7, 0),
                         second = Evaluator(*task, s).evaluate(model, 7, 0);
        EXPECT_TRUE(at::equal(before, at::globalContext().defaultGenerator(at::kCPU).get_state()));
        EXPECT_EQ(formatRow(first.row), formatRow(second.row));
        EXPECT_EQ(first.row.step, 7);
        EXPECT_EQ(first.samples.size(), 10U);
        EXPECT_EQ(first.row.correct.has_value(), task->hasProblems());
        EXPECT_EQ(first.row.floor.has_value(), !task->hasProblems());
        EXPECT_GT(first.row.loss.value(), 0.0);
    }
}

TEST(Evaluation, CountsWhatIsRight) {
    const Specification s = small("addition");
    const auto task = makeTask(s.task);
    Transformer model(s, task->vocabulary().size(), at::kCPU);
    const Evaluation evaluation = Evaluator(*task, s).evaluate(model, 0, 0);
    std::int64_t correct = 0;
    for (const Sample& sample : evaluation.samples)
        correct += sample.correct ? 1 : 0;
    EXPECT_EQ(evaluation.row.correct, correct);
    EXPECT_EQ(correct, 0);  // an untrained model solves nothing
}

TEST(Batches, AreTheStreamsSequences) {
    const Specification s = small("addition");
    const auto task = makeTask(s.task);
    const at::Tensor tokens = makeSequences(*task, s, Stream::training, 5, 3);
    EXPECT_EQ(tokens.sizes().vec(), (std::vector<std::int64_t>{3, s.training.length}));
    std::string text;
    for (std::int64_t t = 0; t < s.training.length; ++t)
        text += task->vocabulary().decode(tokens[1][t].item<std::int64_t>());
    EXPECT_EQ(text, task->sequence(0, Stream::training, 6, static_cast<int>(s.training.length)));
}

}  // namespace
}  // namespace roper
