#include "core/tasks/index.h"

#include <gtest/gtest.h>

#include <regex>

namespace roper {
namespace {

TEST(Index, WritesTheSourcesText) {
    const Problem problem = IndexTask::makeProblem("dyjeofuxvejmg", 8);
    EXPECT_EQ(problem.text(), "?s='dyjeofuxvejmg'; s[8:]=='vejmg'#");
    EXPECT_EQ(problem.prompt, "?s='dyjeofuxvejmg'; s[8:]=='");
}

TEST(Index, EveryProblemIsRight) {
    const IndexTask task(3, 18);
    const std::regex grammar(R"(\?s='([a-z]+)'; s\[(\d+):\]=='([a-z]+)'#)");
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Problem problem = task.problem(1, Stream::problems, i);
        const std::string text = problem.text();
        std::smatch parts;
        ASSERT_TRUE(std::regex_match(text, parts, grammar)) << text;
        const std::string letters = parts[1];
        EXPECT_GE(letters.size(), 3U);
        EXPECT_LE(letters.size(), 18U);
        EXPECT_EQ(letters.substr(std::stoul(parts[2])), parts[3]) << text;
        EXPECT_TRUE(task.isCorrect(problem, problem.answer));
        EXPECT_NO_THROW(task.vocabulary().encode(text));
        EXPECT_LE(static_cast<int>(problem.prompt.size()), task.maxPromptLength());
        EXPECT_LE(static_cast<int>(problem.answer.size()), task.maxAnswerLength());
    }
}

TEST(Index, WrongAnswersAreWrong) {
    const IndexTask task(3, 18);
    const Problem problem = IndexTask::makeProblem("dyjeofuxvejmg", 8);
    for (const char* wrong : {"vejm'#", "vejmgg'#", "ejmg'#", "vejmg", "", "'", "uxvejmg'#"})
        EXPECT_FALSE(task.isCorrect(problem, wrong)) << wrong;
    EXPECT_TRUE(task.isCorrect(problem, "vejmg'#?s='"));
}

TEST(Index, RefusesImpossibleLengths) {
    EXPECT_THROW(IndexTask(0, 4), std::invalid_argument);
    EXPECT_THROW(IndexTask(5, 4), std::invalid_argument);
}

}  // namespace
}  // namespace roper
