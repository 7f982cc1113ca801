#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "core/tasks/index.h"
#include "core/tasks/task_kind.h"

namespace roper {
namespace {

TaskSettings settings(std::int64_t least, std::int64_t most) {
    TaskSettings made;
    made.name = "copy";
    made.specific_settings.set("copy_min", least);
    made.specific_settings.set("copy_max", most);
    return made;
}

TEST(Copy, IsAStringAndTheSameString) {
    const auto task = makeTask(settings(3, 12));
    std::set<std::size_t> lengths;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const Problem problem = task->problem(7, Stream::problems, i);
        const std::string letters = problem.prompt.substr(0, problem.prompt.size() - 1);
        EXPECT_EQ(problem.prompt, letters + ">");
        EXPECT_EQ(problem.answer, letters + "#");
        EXPECT_NO_THROW(task->vocabulary().encode(problem.text()));
        lengths.insert(letters.size());
    }
    EXPECT_EQ(lengths.size(), 10U);
    EXPECT_EQ(*lengths.begin(), 3U);
    EXPECT_EQ(task->maxPromptLength(), 13);
    EXPECT_EQ(task->maxAnswerLength(), 13);
    EXPECT_EQ(task->vocabulary().size(), 28);
}

TEST(Copy, IsRightIfEveryLetterIs) {
    const auto task = makeTask(settings(3, 5));
    const Problem problem{"abc>", "abc#"};
    EXPECT_TRUE(task->isCorrect(problem, "abc#"));
    EXPECT_TRUE(task->isCorrect(problem, "abc#xyz"));
    for (const char* wrong : {"", "abc", "abd#", "abcd#", "ab#"})
        EXPECT_FALSE(task->isCorrect(problem, wrong)) << wrong;
    EXPECT_TRUE(task->isComplete("abc#"));
    EXPECT_FALSE(task->isComplete("abc"));
}

TEST(Copy, RefusesLengthsThatContradict) {
    EXPECT_THROW(makeTask(settings(5, 4)), std::invalid_argument);
    EXPECT_EQ(taskKind("copy").check(settings(5, 4).specific_settings).front().key, "task.copy_min");
    EXPECT_TRUE(taskKind("copy").check(settings(4, 5).specific_settings).empty());
}

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
