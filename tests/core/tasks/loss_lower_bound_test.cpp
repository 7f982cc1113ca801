#include <gtest/gtest.h>

#include <cmath>

#include "core/tasks/task_kind.h"

namespace roper {
namespace {

using Own = std::vector<std::pair<std::string, std::int64_t>>;

std::unique_ptr<Task> taskWith(const std::string& name, const Own& declared) {
    TaskSettings settings;
    settings.name = name;
    for (const auto& [key, value] : declared)
        settings.declared.set(key, value);
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
