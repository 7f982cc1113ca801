#include "core/compare/twin_result.h"

#include <gtest/gtest.h>

namespace roper {
namespace {

class TwinResult : public testing::Test {
  protected:
    /// A run evaluated on 128 problems every 50 steps.
    static std::vector<EvaluationRow> solving(const std::vector<std::int64_t>& correct) {
        std::vector<EvaluationRow> rows;
        for (std::size_t i = 0; i < correct.size(); ++i) {
            EvaluationRow row;
            row.step = 50 * static_cast<std::int64_t>(i + 1);
            row.correct = correct[i];
            row.of = 128;
            rows.push_back(row);
        }
        return rows;
    }

    static std::string sentence(const std::vector<EvaluationRow>& rope,
                                const std::vector<EvaluationRow>& roper, RunState state = RunState::finished,
                                RunState ropers = RunState::finished) {
        Specification s;
        s.training.steps = 200;
        s.evaluation.every = 50;
        return twinSentence({"a", withPosition(s, "rope"), state, "", {}, rope, {}},
                            {"b", withPosition(s, "roper"), ropers, "", {}, roper, {}}, 0.9);
    }
};

TEST_F(TwinResult, SaysHowMuchSoonerTheFirstWas) {
    const auto soon = solving({10, 120, 128, 128}), late = solving({0, 10, 60, 120});
    EXPECT_EQ(sentence(late, soon), "RoPER solved 90 % 100 steps earlier here: by step 100 instead of 200.");
    EXPECT_EQ(sentence(soon, late), "RoPE solved 90 % 100 steps earlier here: by step 100 instead of 200.");
    EXPECT_EQ(sentence(soon, soon), "Both solved 90 % by step 100.");
}

TEST_F(TwinResult, SaysWhoNeverGotThere) {
    const auto soon = solving({10, 120, 128, 128}), not_reached = solving({0, 10, 60, 59});
    EXPECT_EQ(sentence(not_reached, soon),
              "RoPER solved 90 % by step 100 here. RoPE never did: 59 of 128 are solved at step 200.");
    EXPECT_EQ(sentence(soon, not_reached),
              "RoPE solved 90 % by step 100 here. RoPER never did: 59 of 128 are solved at step 200.");
    EXPECT_EQ(sentence(not_reached, not_reached), "Neither solved 90 % of the problems here.");
}

TEST_F(TwinResult, ComparesAtAStepThatBothHaveWhileTheyTrain) {
    const auto ahead = solving({1, 20, 30}), behind = solving({2, 100});
    EXPECT_EQ(sentence(ahead, behind, RunState::running, RunState::running),
              "Step 100 of 200: RoPE solves 20 of 128 problems, RoPER 100 of 128.");
    EXPECT_EQ(sentence(ahead, {}, RunState::running, RunState::queued),
              "Training: the first evaluation comes at step 50.");
    EXPECT_EQ(sentence({}, {}, RunState::queued, RunState::queued), "Both runs are waiting to start.");
    EXPECT_EQ(sentence(ahead, behind, RunState::finished, RunState::stopped),
              "RoPER's run ended before its last step; it can be resumed in the list of runs.");
}

}  // namespace
}  // namespace roper
