#include <gtest/gtest.h>

#include <map>
#include <set>

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

}  // namespace
}  // namespace roper
