#include "core/tasks/addition.h"

#include <gtest/gtest.h>

#include <regex>

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

}  // namespace
}  // namespace roper
