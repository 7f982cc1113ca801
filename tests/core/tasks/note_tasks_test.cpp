#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <regex>
#include <set>

#include "core/tasks/addition.h"
#include "core/tasks/prefix.h"

// The tasks of the RoPER note.

namespace roper {
namespace {

// The two complete problems printed in the RoPER note.
TEST(Addition, WritesTheSourcesText) {
    EXPECT_EQ(
        AdditionTask::makeProblem(66623, 401).text(),
        "?d=66623+401; 3e0+1e0+0e0==4e0 and 2e1+0e1+0e1==2e1 and 6e2+4e2+0e2==10e2 and 6e3+0e3+1e3==7e3 and "
        "6e4+0e4+0e4==6e4 and d==67024#");
    EXPECT_EQ(
        AdditionTask::makeProblem(77, 38446365).text(),
        "?d=77+38446365; 7e0+5e0+0e0==12e0 and 7e1+6e1+1e1==14e1 and 0e2+3e2+1e2==4e2 and 0e3+6e3+0e3==6e3 "
        "and "
        "0e4+4e4+0e4==4e4 and 0e5+4e5+0e5==4e5 and 0e6+8e6+0e6==8e6 and 0e7+3e7+0e7==3e7 and d==38446442#");
}

TEST(Addition, GoesOnWhileTheCarryIsLeft) {
    EXPECT_EQ(AdditionTask::makeProblem(5, 5).answer, " 5e0+5e0+0e0==10e0 and 0e1+0e1+1e1==1e1 and d==10#");
}

/// Parses a problem by an independent grammar and recomputes every step.
void expectArithmetic(const std::string& text) {
    static const std::regex whole(
        R"(\?d=(\d+)\+(\d+);((?: \d+e\d+\+\d+e\d+\+\d+e\d+==\d+e\d+ and)+) d==(\d+)#)");
    static const std::regex step(R"( (\d+)e(\d+)\+(\d+)e(\d+)\+(\d+)e(\d+)==(\d+)e(\d+) and)");
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(text, parts, whole)) << text;
    const auto a = std::stoll(parts[1]), b = std::stoll(parts[2]);
    EXPECT_EQ(std::stoll(parts[4]), a + b) << text;
    const std::string steps = parts[3];
    long long place = 0, power = 1, carry = 0;
    for (std::sregex_iterator it(steps.begin(), steps.end(), step), end; it != end;
         ++it, ++place, power *= 10) {
        const auto number = [&](std::size_t i) { return std::stoll((*it)[i]); };
        for (const std::size_t exponent : {2U, 4U, 6U, 8U})
            EXPECT_EQ(number(exponent), place) << text;
        EXPECT_EQ(number(1), a / power % 10) << text;
        EXPECT_EQ(number(3), b / power % 10) << text;
        EXPECT_EQ(number(5), carry) << text;
        EXPECT_EQ(number(7), number(1) + number(3) + number(5)) << text;
        carry = number(7) / 10;
    }
    EXPECT_EQ(carry, 0) << text;
}

TEST(Addition, EveryProblemIsRight) {
    const AdditionTask task(8);
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Problem problem = task.problem(7, Stream::training, i);
        expectArithmetic(problem.text());
        EXPECT_TRUE(task.isCorrect(problem, problem.answer));
        EXPECT_NO_THROW(task.vocabulary().encode(problem.text()));
        EXPECT_LE(static_cast<int>(problem.prompt.size()), task.maxPromptLength());
        EXPECT_LE(static_cast<int>(problem.answer.size()), task.maxAnswerLength());
    }
}

TEST(Addition, DrawsEveryNumberOfDigits) {
    const AdditionTask task(8);
    std::vector<int> seen(9, 0);
    for (std::uint64_t i = 0; i < 4000; ++i) {
        const std::string prompt = task.problem(3, Stream::problems, i).prompt;
        ++seen[prompt.find('+') - 3];
    }
    for (std::size_t digits = 1; digits <= 8; ++digits)
        EXPECT_NEAR(seen[digits], 500, 120) << digits;
}

TEST(Addition, WrongAnswersAreWrong) {
    const AdditionTask task(8);
    const Problem problem = AdditionTask::makeProblem(12, 4);
    for (const std::string wrong : {" 2e0+4e0+0e0==6e0 and 1e1+0e1+0e1==1e1 and d==17#",
                                    " 2e0+4e0+0e0==6e0 and 1e1+0e1+0e1==1e1 and d==16", " d==016#", "", "#",
                                    " d==16 d==17#", " d==1#6#", " 2e0+4e0+0e0==6e0 and #d==16#"})
        EXPECT_FALSE(task.isCorrect(problem, wrong)) << wrong;
    // Only the last result is judged, not the steps, as in the RoPER note.
    EXPECT_TRUE(task.isCorrect(problem, " 9e0 and d==16#"));
    EXPECT_TRUE(task.isCorrect(problem, " d==3 and d==16#?d=1"));
}

TEST(Addition, IsFullyRightWithEveryStep) {
    const AdditionTask task(8);
    const Problem problem = AdditionTask::makeProblem(12, 4);
    EXPECT_EQ(task.isFullyCorrect(problem, problem.answer), true);
    EXPECT_EQ(task.isFullyCorrect(problem, problem.answer + "?d=1"), true);
    for (const std::string wrong : {" 9e0 and d==16#", " 2e0+4e0+0e0==5e0 and 1e1+0e1+0e1==1e1 and d==16#",
                                    " 2e0+4e0+0e0==6e0 and 1e1+0e1+0e1==1e1 and d==16",
                                    " 2e0+4e0+0e0==6e0 and 1e1+0e1+0e1==1e1 and d==17#"})
        EXPECT_EQ(task.isFullyCorrect(problem, wrong), false) << wrong;
}

TEST(Addition, SequencesAreCutToLength) {
    const AdditionTask task(8);
    for (const int length : {1, 50, 641})
        EXPECT_EQ(task.sequence(0, Stream::training, 5, length).size(), std::size_t(length));
    EXPECT_EQ(task.sequence(0, Stream::training, 5, 641).substr(0, 50),
              task.sequence(0, Stream::training, 5, 50));
}

TEST(Addition, RefusesImpossibleDigits) {
    EXPECT_THROW(AdditionTask(0), std::invalid_argument);
    EXPECT_THROW(AdditionTask(19), std::invalid_argument);
    EXPECT_NO_THROW(AdditionTask(18));
}

TEST(Prefix, EverySubstringOccursBefore) {
    const PrefixTask task(12, 2, 6);
    for (std::uint64_t i = 0; i < 200; ++i) {
        const std::string text = task.sequence(9, Stream::training, i, 400);
        ASSERT_EQ(text.size(), 400U);
        std::string letters;
        std::size_t at = 0;
        bool first = true;
        while (true) {
            const std::size_t mark = text.find('>', at);
            if (mark == std::string::npos) break;
            const std::size_t fresh = mark - at;
            EXPECT_GE(fresh, first ? 14U : 2U);
            EXPECT_LE(fresh, first ? 18U : 6U);
            letters += text.substr(at, fresh);
            const std::string substring = text.substr(mark + 1, 12);
            EXPECT_NE(letters.find(substring), std::string::npos) << text;
            letters += substring;
            at = mark + 1 + substring.size();
            first = false;
        }
    }
}

TEST(Prefix, FreshLettersCostLn4AndRecalledOnesNothingOnceUnique) {
    const PrefixTask task(4, 2, 2);
    // Letters abcdab are drawn, then "cdab" is repeated: three starts are possible, and c decides.
    const std::vector<double> costs = task.idealSurprisals("abcdab>cdab");
    ASSERT_EQ(costs.size(), 11U);
    for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(costs[static_cast<std::size_t>(i)], std::log(4.0), 1e-12);
    EXPECT_NEAR(costs[6], 0.0, 1e-12);            // the length of the part is certain
    EXPECT_NEAR(costs[7], std::log(3.0), 1e-12);  // abcd, bcda, cdab
    for (std::size_t i = 8; i < 11; ++i)
        EXPECT_NEAR(costs[i], 0.0, 1e-12);
}

TEST(Prefix, AnUncertainEndCostsItsChance) {
    const PrefixTask task(1, 0, 1);
    // One letter is certain; then the part ends with probability 1/2.
    EXPECT_NEAR(task.idealSurprisals("a>")[1], std::log(2.0), 1e-12);
    EXPECT_NEAR(task.idealSurprisals("ab")[1], std::log(4.0) + std::log(2.0), 1e-12);
}

/// The lower bound is a mean of true costs, so on average no model of letter frequencies can be below it.
TEST(Prefix, LowerBoundLiesBelowTheEntropyOfLettersAndAboveNothing) {
    const PrefixTask task(24, 4, 8);
    double lower_bound = 0;
    for (std::uint64_t i = 0; i < 20; ++i)
        lower_bound += task.lossLowerBound(task.sequence(0, Stream::validation, i, 193)).value() / 20;
    EXPECT_GT(lower_bound, 0.3);
    EXPECT_LT(lower_bound, std::log(4.0));
}

// A letter is determined if every earlier position that matches so far continues with it; verified by a
// separate search.
TEST(Prefix, DeterminedLettersAreThoseThatCannotBeOthers) {
    const PrefixTask task(8, 2, 5);
    int determined = 0;
    for (std::uint64_t index = 0; index < 20; ++index) {
        const std::string text = task.sequence(3, Stream::validation, index, 200);
        const std::vector<bool> certain = task.determined(text);
        std::string letters;
        for (std::size_t i = 0; i < text.size(); ++i) {
            const std::size_t mark = text.rfind('>', i);
            const bool inside = mark != std::string::npos && i > mark && i <= mark + 8;
            bool expected = false;
            if (inside) {
                std::string before = text.substr(0, mark);
                std::erase(before, '>');
                const std::string seen = text.substr(mark + 1, i - mark - 1);
                std::set<char> next;
                for (std::size_t start = 0; start + 8 <= before.size(); ++start)
                    if (before.compare(start, seen.size(), seen) == 0)
                        next.insert(before[start + seen.size()]);
                expected = next.size() == 1;
            }
            EXPECT_EQ(certain[i], expected) << text << " at " << i;
            determined += expected ? 1 : 0;
        }
    }
    EXPECT_GT(determined, 500);
}

TEST(Prefix, RefusesTextOfAnotherKind) {
    const PrefixTask task(4, 2, 2);
    EXPECT_THROW(task.idealSurprisals("abcdabc>"), std::invalid_argument);  // part too long
    EXPECT_THROW(task.idealSurprisals("abcd>"), std::invalid_argument);     // part too short
    EXPECT_THROW(task.idealSurprisals("aaaaaa>bbbb"), std::invalid_argument);
    EXPECT_THROW(PrefixTask(0, 1, 2), std::invalid_argument);
    EXPECT_THROW(PrefixTask(3, 4, 2), std::invalid_argument);
}

}  // namespace
}  // namespace roper
