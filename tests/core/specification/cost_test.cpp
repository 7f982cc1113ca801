#include "core/specification/cost.h"

#include <gtest/gtest.h>

#include "core/specification/presets.h"

namespace roper {
namespace {

Specification preset(const std::string& name) {
    return loadPreset(name).specification;
}

/// The results of a run with many problems depend on how these are split; those of the presets must not
/// change.
TEST(Cost, PresetsSolveTheirProblemsAtOnce) {
    for (const std::string& name : presetNames()) {
        const Specification s = preset(name);
        if (!s.task.hasProblems()) continue;
        const auto task = makeTask(s.task);
        std::size_t longest = 0;
        for (std::uint64_t i = 0; i < 128; ++i)
            longest = std::max(longest, task->problem(0, Stream::problems, i).prompt.size());
        const auto tokens = static_cast<std::int64_t>(longest) + task->maxAnswerLength();
        EXPECT_GE(problemsPerBatch(s, tokens), s.evaluation.problems) << name;
    }
}

TEST(Cost, EvaluationsAndSnapshotsAreCounted) {
    Specification s = preset("addition-demo");
    const double plain = costOf(s).memory_bytes;
    s.evaluation.problems = 65536;
    s.training.length = 3000;
    const Cost many = costOf(s);
    EXPECT_GT(many.evaluation_bytes, 1e9);
    EXPECT_LT(many.evaluation_bytes, 4e9);  // problems are solved in several parts
    EXPECT_GE(many.memory_bytes, many.evaluation_bytes);

    Specification looks_inside = preset("addition-demo");
    looks_inside.model.layers = looks_inside.model.heads = 64;
    looks_inside.model.width = 1024;
    looks_inside.snapshots.tokens = 1024;
    looks_inside.snapshots.every = 100;
    EXPECT_GT(costOf(looks_inside).memory_bytes, 2 * 4 * 64.0 * 64 * 1024 * 1024);
    looks_inside.snapshots.every = 0;
    EXPECT_EQ(costOf(looks_inside).snapshot_bytes, 0);
    EXPECT_LT(plain, 1e9);
}

// With 4 heads of 32 features, one key/value head saves 6/4 of C² weights of a layer, one that is shared 7/4.
TEST(Cost, FewerKeyValueHeadsNeedLess) {
    Specification s;
    const Cost all = costOf(s);
    const std::int64_t C = s.model.width, L = s.model.layers, row = C + 1;
    s.model.kv_heads = 1;
    const Cost one = costOf(s);
    EXPECT_EQ(all.parameters - one.parameters, L * row * C * 6 / 4);
    s.model.shared_kv = true;
    const Cost shared = costOf(s);
    EXPECT_EQ(all.parameters - shared.parameters, L * row * C * 7 / 4);
    for (double Cost::*part :
         {&Cost::flop_per_step, &Cost::step_bytes, &Cost::memory_bytes, &Cost::disk_bytes}) {
        EXPECT_LT(one.*part, all.*part);
        EXPECT_LT(shared.*part, one.*part);
    }
    EXPECT_GE(problemsPerBatch(s, 100000), 2 * problemsPerBatch(Specification(), 100000));
}

TEST(Cost, WindowsNeedLessAndGatesMore) {
    Specification s;
    const Cost plain = costOf(s);
    s.model.window = 16;
    EXPECT_LT(costOf(s).flop_per_step, plain.flop_per_step);
    EXPECT_EQ(attendedKeys(s, 8), 4);
    EXPECT_NEAR(attendedKeys(s, 100), (16 * 17 / 2.0 + 84 * 16) / 100, 0.1);  // counted one by one
    s.model.window = 0;
    s.model.block = "modern";
    const Cost gated = costOf(s);
    for (double Cost::*part : {&Cost::flop_per_step, &Cost::step_bytes, &Cost::evaluation_bytes})
        EXPECT_GT(gated.*part, plain.*part);
}

TEST(Cost, WhatIsTooMuchIsSaidWithWhatToChange) {
    Specification s = preset("addition-demo");
    EXPECT_EQ(memoryProblem(s, 8e9), std::nullopt);
    EXPECT_NE(memoryProblem(s, 1e8).value_or("").find("100 MB are free"), std::string::npos);
    s.training.batch = 65536;
    EXPECT_NE(memoryProblem(s, 8e9).value_or("").find("training.batch (65536)"), std::string::npos);
    s = preset("addition-demo");
    s.snapshots.tokens = 100000;
    s.snapshots.every = 10;
    EXPECT_NE(memoryProblem(s, 8e9).value_or("").find("snapshots.tokens (100000)"), std::string::npos);
}

TEST(Cost, ADiskThatIsTooSmallIsSaidWithWhatToChange) {
    Specification s;
    const double one = costOf(s).disk_bytes;
    // At least the parameters and two moments.
    EXPECT_GT(one, 12.0 * static_cast<double>(costOf(s).parameters));
    EXPECT_FALSE(diskProblem({s}, one));
    EXPECT_FALSE(diskProblem({}, 0));
    const auto problem = diskProblem({s, s}, one);
    ASSERT_TRUE(problem);
    EXPECT_NE(problem->find("2 runs take about"), std::string::npos) << *problem;
    EXPECT_NE(problem->find("checkpoints.keep (2)"), std::string::npos) << *problem;
    s.checkpoints.keep = 1;
    s.snapshots.every = 0;
    EXPECT_EQ(diskProblem({s}, 0)->find("lower"), std::string::npos);
}

TEST(Cost, AnEvaluationKeepsToItsMemoryWhateverTheBatch) {
    Specification s;
    EXPECT_EQ(sequencesPerBatch(s), s.training.batch);  // typical models read the whole batch at once
    s.training.batch = 65536;
    const std::int64_t at_once = sequencesPerBatch(s);
    EXPECT_LT(at_once, 65536);
    EXPECT_GT(at_once, 64);
    EXPECT_LT(costOf(s).evaluation_bytes, 2.3e9);
    s.training.length = 1 << 20;
    EXPECT_EQ(sequencesPerBatch(s), 1);
    EXPECT_FALSE(evaluationProblem(s, 1e12));
    const auto problem = evaluationProblem(s, 1e9);
    ASSERT_TRUE(problem);
    for (const char* part : {"1048576 tokens", "GB of memory", "1 GB are free", "--length"})
        EXPECT_NE(problem->find(part), std::string::npos) << *problem;
}

}  // namespace
}  // namespace roper
