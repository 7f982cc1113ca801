#include "core/tasks/addition.h"

#include <stdexcept>

namespace roper {
namespace {

constexpr std::string_view kResult = "d==";

std::int64_t drawOperand(Random& random, std::int64_t digits_max) {
    const std::int64_t digits = random.between(1, digits_max);
    std::int64_t value = random.between(1, 9);
    for (std::int64_t i = 1; i < digits; ++i)
        value = 10 * value + random.between(0, 9);
    return value;
}

/// The last "d==…#" of a completion's first problem, with its '#'; empty if there is none.
std::string_view finalResult(std::string_view completion) {
    const std::size_t end = completion.find('#');
    if (end == std::string_view::npos) return {};
    const std::string_view written = completion.substr(0, end + 1);
    const std::size_t start = written.rfind(kResult);
    return start == std::string_view::npos ? std::string_view{} : written.substr(start);
}

}  // namespace

AdditionTask::AdditionTask(std::int64_t digits_max)
    : ProblemTask("0123456789?d=+;e an#"), digits_max_(digits_max) {
    if (digits_max < 1 || digits_max > 18)
        throw std::invalid_argument("an operand has 1 to 18 digits, not " + std::to_string(digits_max));
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < digits_max; ++i)
        largest = 10 * largest + 9;
    const Problem longest = problemFor(largest, largest);
    longest_prompt_ = static_cast<int>(longest.prompt.size());
    longest_answer_ = static_cast<int>(longest.answer.size());
}

Problem AdditionTask::problemFor(std::int64_t a, std::int64_t b) {
    Problem problem;
    problem.prompt = "?d=" + std::to_string(a) + "+" + std::to_string(b) + ";";
    std::int64_t rest_a = a;
    std::int64_t rest_b = b;
    std::int64_t carry = 0;
    for (int place = 0; rest_a > 0 || rest_b > 0 || carry > 0; ++place) {
        const std::string e = "e" + std::to_string(place);
        const std::int64_t sum = rest_a % 10 + rest_b % 10 + carry;
        problem.answer += " " + std::to_string(rest_a % 10) + e + "+" + std::to_string(rest_b % 10) + e +
                          "+" + std::to_string(carry) + e + "==" + std::to_string(sum) + e + " and";
        rest_a /= 10;
        rest_b /= 10;
        carry = sum / 10;
    }
    problem.answer += " " + std::string(kResult) + std::to_string(a + b) + "#";
    return problem;
}

bool AdditionTask::isRight(const Problem& problem, std::string_view completion) const {
    const std::string_view written = finalResult(completion);
    return !written.empty() && written == finalResult(problem.answer);
}

Problem AdditionTask::draw(Random& random) const {
    const std::int64_t a = drawOperand(random, digits_max_);
    const std::int64_t b = drawOperand(random, digits_max_);
    return problemFor(a, b);
}

}  // namespace roper
