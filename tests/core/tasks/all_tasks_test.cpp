#include "core/base/random.h"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "core/tasks/task.h"
#include "core/tasks/task_kind.h"

namespace roper {
namespace {

TEST(Random, IsTheSameEverywhere) {
    // These values must never change, because every run's data depends on them. An independent program
    // computed them from the published algorithms.
    Random random(1, Stream::training, 2);
    for (const std::uint64_t expected : {16664065151221032123U, 12547599364808068915U, 18164505804216777604U})
        EXPECT_EQ(random.next(), expected);
}

TEST(Random, NeighborsDoNotMeet) {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed)
        for (const Stream stream : {Stream::training, Stream::problems, Stream::validation})
            for (std::uint64_t index = 0; index < 40; ++index)
                seen.insert(Random(seed, stream, index).next());
    EXPECT_EQ(seen.size(), 40U * 3 * 40);
}

TEST(Random, BetweenIsEvenAndKeepsItsBounds) {
    Random random(5, Stream::training, 0);
    std::array<int, 7> counts{};
    for (int i = 0; i < 70000; ++i) {
        const std::int64_t value = random.between(-3, 3);
        ASSERT_GE(value, -3);
        ASSERT_LE(value, 3);
        ++counts[static_cast<std::size_t>(value + 3)];
    }
    for (const int count : counts)
        EXPECT_NEAR(count, 10000, 400);
    EXPECT_EQ(random.between(4, 4), 4);
    EXPECT_NO_THROW(
        random.between(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

TEST(Streams, CanBeEnteredAnywhere) {
    for (const TaskKind& kind : taskKinds()) {
        if (kind.is_text) continue;
        const std::string& name = kind.name;
        TaskSettings settings;
        settings.name = name;
        const auto task = makeTask(settings);
        const std::string once = task->sequence(4, Stream::training, 1000, 200);
        for (std::uint64_t i = 990; i < 1000; ++i)
            task->sequence(4, Stream::training, i, 200);
        EXPECT_EQ(task->sequence(4, Stream::training, 1000, 200), once);
        EXPECT_NE(task->sequence(5, Stream::training, 1000, 200), once);
        EXPECT_NE(task->sequence(4, Stream::validation, 1000, 200), once);
    }
    TaskSettings unknown;
    unknown.name = "multiplication";
    EXPECT_THROW(makeTask(unknown), std::invalid_argument);
}

std::unique_ptr<Task> taskNamed(const std::string& name, std::int64_t digits = 4) {
    TaskSettings settings;
    settings.name = name;
    settings.specific_settings.set("digits_max", digits);
    return makeTask(settings);
}

// Training and evaluation use disjoint problems for every size with enough problems.
TEST(HeldOut, TrainingNeverShowsAProblemThatIsKeptForEvaluations) {
    for (const TaskKind& kind : taskKinds()) {
        if (!kind.has_problems) continue;
        SCOPED_TRACE(kind.name);
        const auto task = taskNamed(kind.name);
        std::set<std::string> shown;
        for (std::uint64_t i = 0; i < 400; ++i) {
            const std::string text = task->sequence(1, Stream::training, i, 300);
            for (const std::string_view prompt : task->promptsIn(text)) {
                shown.insert(std::string(prompt));
                EXPECT_FALSE(task->isHeldOut({std::string(prompt), ""})) << prompt;
            }
        }
        EXPECT_GT(shown.size(), 500U);
        int held = 0, apart = 0;
        for (std::uint64_t i = 0; i < 400; ++i) {
            const Problem problem = task->problem(1, Stream::problems, i);
            if (!task->isHeldOut(problem)) continue;
            ++held;
            apart +=
                std::none_of(shown.begin(), shown.end(),
                             [&](const std::string& prompt) { return problem.prompt.starts_with(prompt); })
                    ? 1
                    : 0;
        }
        EXPECT_GT(held, 200);
        EXPECT_EQ(apart, held);
    }
}

TEST(HeldOut, OneProblemIn32OfALargeSizeAndNoneOfASmallOne) {
    const auto task = taskNamed("addition", 2);
    int small = 0, large = 0;
    for (int a = 1; a < 100; ++a)
        for (int b = 1; b < 100; ++b) {
            const bool held =
                task->isHeldOut({"?d=" + std::to_string(a) + "+" + std::to_string(b) + ";", ""});
            (a > 9 && b > 9 ? large : small) += held ? 1 : 0;
        }
    EXPECT_EQ(small, 0);
    EXPECT_NEAR(large, 8100 / 32, 50);
}

TEST(Sizes, AreThoseOfTheProblemsAsked) {
    for (const TaskKind& kind : taskKinds()) {
        if (!kind.has_problems) continue;
        SCOPED_TRACE(kind.name);
        const auto task = taskNamed(kind.name);
        EXPECT_EQ(task->sizeNames().size(), 2U);
        EXPECT_EQ(task->sizeCount(), static_cast<std::int64_t>(task->sizes().size()));
        for (const ProblemSize size : task->sizes())
            EXPECT_EQ(task->sizeOf(task->problemOfSize(3, Stream::sizes, 5, size).prompt), size);
        EXPECT_FALSE(task->sizeOf("?"));
        EXPECT_FALSE(task->sizeOf(""));
        EXPECT_FALSE(task->sizeOf("?s='ab'; s[x:]=='"));
        EXPECT_FALSE(task->sizeOf("?s=':]=='"));
    }
    EXPECT_EQ(taskNamed("addition")->sizeOf("?d=123+4;"), (ProblemSize{3, 1}));
    EXPECT_EQ(taskNamed("index")->sizeOf("?s='abc'; s[2:]=='"), (ProblemSize{3, 2}));
    EXPECT_TRUE(taskNamed("prefix")->sizes().empty());
}

TEST(Overlaps, CountWhatTrainingHasShown) {
    const auto task = taskNamed("addition", 1);  // 81 problems, all of which training shows soon
    std::vector<Problem> problems;
    for (std::uint64_t i = 0; i < 40; ++i)
        problems.push_back(task->problem(0, Stream::problems, i));
    OverlapCounter counter(*task, 0, 200, problems);
    EXPECT_EQ(counter.countInFirst(0), 0);
    const std::int64_t early = counter.countInFirst(3);
    std::set<std::string> shown;
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::string text = task->sequence(0, Stream::training, i, 200);
        for (const std::string_view prompt : task->promptsIn(text))
            shown.insert(std::string(prompt));
    }
    EXPECT_EQ(early, std::count_if(problems.begin(), problems.end(),
                                   [&](const Problem& p) { return shown.count(p.prompt) > 0; }));
    EXPECT_GT(early, 0);
    EXPECT_EQ(counter.countInFirst(1000), 40);
}

TEST(Vocabulary, NamesTheCharacterThatIsMissing) {
    const Vocabulary vocabulary("ab");
    try {
        vocabulary.encode("abz");
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("'z' at position 3"), std::string::npos);
    }
    EXPECT_THROW(Vocabulary("aba"), std::invalid_argument);
}

using Own = std::vector<std::pair<std::string, std::int64_t>>;

std::unique_ptr<Task> taskWith(const std::string& name, const Own& specific_settings) {
    TaskSettings settings;
    settings.name = name;
    for (const auto& [key, value] : specific_settings)
        settings.specific_settings.set(key, value);
    return makeTask(settings);
}

double sumOfCosts(const Task& task, const std::string& sequence) {
    return task.lossLowerBound(sequence).value() * static_cast<double>(sequence.size() - 1);
}

/// −ln p of a problem including its first character, measured as the second of two problems.
double costOf(const Task& task, const std::string& problem) {
    return sumOfCosts(task, problem + problem) - sumOfCosts(task, problem);
}

/// The cost of a problem is −ln of the probability of drawing it: sizes and contents are uniform.
TEST(LossLowerBound, IsWhatItTakesToNameAProblem) {
    const auto copy = taskWith("copy", {{"copy_min", 3}, {"copy_max", 12}});
    EXPECT_NEAR(costOf(*copy, "abcde>abcde#"), std::log(10) + 5 * std::log(26), 1e-9);
    EXPECT_NEAR(costOf(*copy, "abcdefghijkl>abcdefghijkl#"), std::log(10) + 12 * std::log(26), 1e-9);
    const auto recall = taskWith("associative_recall", {{"pairs_min", 2}, {"pairs_max", 4}});
    EXPECT_NEAR(costOf(*recall, "c4a7x1>a7x1c4#"),
                std::log(3) + std::log(26 * 25 * 24) + 3 * std::log(10) + std::log(6), 1e-9);
    const auto addition = taskWith("addition", {{"digits_max", 3}});
    EXPECT_NEAR(costOf(*addition, "?d=12+345; …#"), 2 * std::log(3) + 2 * std::log(9) + 3 * std::log(10),
                1e-9);
    const auto index = taskWith("index", {{"string_min", 3}, {"string_max", 14}});
    EXPECT_NEAR(costOf(*index, "?s='dyjeofuxvejmg'; s[8:]=='vejmg'#"),
                std::log(12) + 13 * std::log(26) + std::log(13), 1e-9);
    EXPECT_NEAR(costOf(*index, "?s='dyjeofuxvejmg'; s[11:]=='mg'#"),
                std::log(12) + 13 * std::log(26) + std::log(13), 1e-9);
}

/// After "s[1" for a string of twelve letters follow an end or one of two digits, all equally likely.
TEST(LossLowerBound, OfANumberIsThatOfEachDigit) {
    const auto index = taskWith("index", {{"string_min", 3}, {"string_max", 14}});
    const std::string before = "?s='abcdefghijkl'; s[1";
    for (const char* next : {":", "0", "1"})
        EXPECT_NEAR(sumOfCosts(*index, before + next) - sumOfCosts(*index, before), std::log(3), 1e-9)
            << next;
}

/// Characters determined by earlier ones cost nothing, wherever the sequence is truncated.
TEST(LossLowerBound, CountsNothingThatFollows) {
    const auto copy = taskWith("copy", {{"copy_min", 3}, {"copy_max", 5}});
    const std::string text = "abcde>abcde#bcd>bcd#";
    const auto costAt = [&](std::size_t i) {
        return sumOfCosts(*copy, text.substr(0, i + 1)) - sumOfCosts(*copy, text.substr(0, i));
    };
    EXPECT_NEAR(costAt(2), std::log(26), 1e-12) << "the third letter must come";
    EXPECT_NEAR(costAt(3), std::log(26) + std::log(1.5), 1e-12) << "or an end, one in three";
    for (const std::size_t i : {5, 6, 10, 11, 17, 19})
        EXPECT_NEAR(costAt(i), 0, 1e-12) << text[i] << " at " << i;
    EXPECT_FALSE(copy->lossLowerBound("a"));
}

/// The bound exists for every sequence that a task can generate, truncated anywhere.
TEST(LossLowerBound, IsKnownOfEverySequence) {
    for (const TaskKind& kind : taskKinds()) {
        if (kind.is_text) continue;
        TaskSettings settings;
        settings.name = kind.name;
        const auto task = makeTask(settings);
        for (std::uint64_t i = 0; i < 50; ++i)
            for (const int length : {2, 3, 17, 192}) {
                const auto bound = task->lossLowerBound(task->sequence(3, Stream::validation, i, length));
                ASSERT_TRUE(bound) << kind.name;
                EXPECT_TRUE(*bound >= 0 && *bound < std::log(30)) << kind.name << ", " << *bound;
            }
    }
}

}  // namespace

}  // namespace roper
