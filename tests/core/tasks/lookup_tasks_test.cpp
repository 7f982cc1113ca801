#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "core/tasks/index.h"
#include "core/tasks/task_kind.h"

namespace roper {
namespace {

std::unique_ptr<Task> taskOf(std::int64_t least, std::int64_t most) {
    TaskSettings settings;
    settings.name = "associative_recall";
    settings.specific_settings.set("pairs_min", least);
    settings.specific_settings.set("pairs_max", most);
    return makeTask(settings);
}

/// The pairs before '>' and those after it.
std::pair<std::map<char, char>, std::map<char, char>> pairsOf(const std::string& text) {
    const std::size_t middle = text.find('>');
    std::map<char, char> shown, asked;
    for (std::size_t i = 0; i + 1 < middle; i += 2)
        EXPECT_TRUE(shown.emplace(text[i], text[i + 1]).second) << "a key stands twice in " << text;
    for (std::size_t i = middle + 1; i + 2 < text.size(); i += 2)
        EXPECT_TRUE(asked.emplace(text[i], text[i + 1]).second) << "a key is queried twice in " << text;
    return {shown, asked};
}

TEST(AssociativeRecall, EveryKeyIsQueriedOnceAndFollowedByItsValue) {
    const auto task = taskOf(4, 8);
    std::set<std::size_t> counts;
    int moved = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const std::string text = task->problem(3, Stream::problems, i).text();
        EXPECT_EQ(text.back(), '#');
        const auto [shown, asked] = pairsOf(text);
        EXPECT_EQ(shown, asked) << text;
        counts.insert(shown.size());
        moved += text.substr(0, text.find('>')) != text.substr(text.find('>') + 1, 2 * shown.size()) ? 1 : 0;
        EXPECT_NO_THROW(task->vocabulary().encode(text));
    }
    EXPECT_EQ(counts, (std::set<std::size_t>{4, 5, 6, 7, 8}));
    EXPECT_GT(moved, 250) << "queries come in another order than the pairs";
}

TEST(AssociativeRecall, AProblemIsOneQuery) {
    const auto task = taskOf(3, 3);
    std::set<std::int64_t> queries;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const Problem problem = task->problem(5, Stream::problems, i);
        const auto size = task->sizeOf(problem.prompt);
        ASSERT_TRUE(size) << problem.prompt;
        EXPECT_EQ(size->first, 3);
        queries.insert(size->second);
        const char key = problem.prompt.back();
        EXPECT_EQ(pairsOf(problem.text()).first.at(key), problem.answer.front());
        EXPECT_TRUE(task->isCorrect(problem, problem.answer.substr(0, 1)));
        EXPECT_FALSE(task->isCorrect(problem, ""));
        EXPECT_FALSE(task->isCorrect(problem, problem.answer.front() == '0' ? "1" : "0"));
    }
    EXPECT_EQ(queries, (std::set<std::int64_t>{0, 1, 2}));
    EXPECT_TRUE(task->isComplete("7"));
    EXPECT_FALSE(task->isComplete(""));
    for (const char* other : {"a1b>a", "ab>", "1a>1", "a1>a1", ">a", "a1b2>a?"})
        EXPECT_FALSE(task->sizeOf(other)) << other;
}

TEST(AssociativeRecall, ThePairsOfAnEvaluationAreNeverTrainedOn) {
    const auto task = taskOf(4, 6);
    std::set<std::string> trained;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const std::string sequence = task->sequence(2, Stream::training, i, 200);
        for (const std::string_view pairs : task->promptsIn(sequence))
            trained.insert(std::string(pairs));
    }
    EXPECT_GT(trained.size(), 1000U);
    for (std::uint64_t i = 0; i < 300; ++i) {
        const Problem problem = task->problem(2, Stream::problems, i);
        EXPECT_TRUE(task->isHeldOut(problem));
        EXPECT_EQ(trained.count(problem.prompt.substr(0, problem.prompt.find('>') + 1)), 0U);
    }
    for (const std::string& pairs : trained)
        EXPECT_FALSE(task->isHeldOut({pairs, ""})) << pairs;
}

TEST(AssociativeRecall, RefusesPairsThatCannotBe) {
    EXPECT_THROW(taskOf(5, 4), std::invalid_argument);
    EXPECT_THROW(taskOf(1, 4), std::invalid_argument);
    EXPECT_THROW(taskOf(4, 27), std::invalid_argument);
}

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
