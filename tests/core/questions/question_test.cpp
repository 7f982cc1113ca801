#include "core/questions/question.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace roper {
namespace {

TEST(Question, IsSentAsWhatDiffersFromNothing) {
    EXPECT_TRUE(questionSettings({}).empty());
    Question question{"attention", "two words", 3, 1};
    question.change.mute = "24-31";
    question.change.layer = 2;
    question.change.scaling = ScalingMethod::yarn;
    using Settings = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(questionSettings(question), (Settings{{"what", "attention"},
                                                    {"text", "two words"},
                                                    {"layer", "3"},
                                                    {"head", "1"},
                                                    {"change_layer", "2"},
                                                    {"mute", "24-31"},
                                                    {"scaling", "yarn"}}));
    EXPECT_EQ(parseQuestion(questionSettings(question)), question);
}

TEST(Question, EveryKindIsSentByItsName) {
    for (const QuestionKind& kind : questionKinds()) {
        const Question question{kind.name};
        EXPECT_EQ(parseQuestion(questionSettings(question)), question);
        EXPECT_EQ(&question.kind(), &kind);
        EXPECT_EQ(kind.count_meaning.empty(), kind.default_count == 0) << kind.name;
    }
    expectError(ErrorKind::usage, "unknown question \"losses\"; expected one of model, loss",
                [] { questionKind("losses"); });
}

/// Every setting that a kind declares is a field.
TEST(Question, SettingsOfAKindAreFields) {
    for (const QuestionKind& kind : questionKinds())
        for (const std::string& setting : kind.specific_settings) {
            if (setting == "out") continue;  // exists only on the command line
            EXPECT_NO_THROW(findField(questionFields(), setting)) << setting;
        }
}

TEST(Question, RefusesWhatItDoesNotKnow) {
    expectError(ErrorKind::usage, "what", [] { parseQuestion({{"what", "losses"}}); });
    EXPECT_EQ(parseQuestion({{"what", "bands"}}).what, "pairs");  // its former name
    expectError(ErrorKind::usage, "mute", [] { parseQuestion({{"mut", "1"}}); });
    expectError(ErrorKind::usage, "layer", [] { parseQuestion({{"layer", "-1"}}); });
    expectError(ErrorKind::usage, "shift", [] { parseQuestion({{"shift", "1"}, {"shift", "2"}}); });
}

TEST(Question, AChangeOfNothingIsNothing) {
    ModelChange change;
    change.layer = 3;  // heads are named, but no change to them
    change.factor = 8;
    EXPECT_TRUE(change.isEmpty());
    for (const auto set :
         {+[](ModelChange& c) { c.ablate = "1"; }, +[](ModelChange& c) { c.mute = "1"; },
          +[](ModelChange& c) { c.mute_heads = true; }, +[](ModelChange& c) { c.no_rotation = true; },
          +[](ModelChange& c) { c.shift = -1; }, +[](ModelChange& c) { c.base = 1e6; },
          +[](ModelChange& c) { c.no_inverse = true; }, +[](ModelChange& c) { c.no_value_rotation = true; },
          +[](ModelChange& c) { c.scaling = ScalingMethod::ntk; }}) {
        ModelChange changed;
        set(changed);
        EXPECT_FALSE(changed.isEmpty());
    }
}

}  // namespace
}  // namespace roper
