#include "core/tasks/addition.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace roper {
namespace {

constexpr std::string_view kQuestion = "?d=", kResult = "d==";

std::int64_t drawOperand(Random& random, std::int64_t digits) {
    std::int64_t value = random.between(1, 9);
    for (std::int64_t i = 1; i < digits; ++i)
        value = 10 * value + random.between(0, 9);
    return value;
}

bool isDigit(char character) {
    return character >= '0' && character <= '9';
}

bool isNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The last "d==…#" in a completion up to and including its first '#'; empty if there is none.
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
        throw std::invalid_argument("an operand must have 1 to 18 digits, not " + std::to_string(digits_max));
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < digits_max; ++i)
        largest = 10 * largest + 9;
    const Problem longest = makeProblem(largest, largest);
    setMaxLengths(longest.prompt.size(), longest.answer.size());
}

Problem AdditionTask::makeProblem(std::int64_t a, std::int64_t b) {
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

bool AdditionTask::isCorrect(const Problem& problem, std::string_view completion) const {
    const std::string_view written = finalResult(completion);
    return !written.empty() && written == finalResult(problem.answer);
}

std::vector<ProblemSize> AdditionTask::sizes() const {
    std::vector<ProblemSize> all;
    for (std::int64_t a = 1; a <= digits_max_; ++a)
        for (std::int64_t b = 1; b <= digits_max_; ++b)
            all.push_back({a, b});
    return all;
}

std::optional<ProblemSize> AdditionTask::sizeOf(std::string_view prompt) const {
    if (!prompt.starts_with(kQuestion) || !prompt.ends_with(promptTerminator())) return std::nullopt;
    const std::string_view sum = prompt.substr(kQuestion.size(), prompt.size() - kQuestion.size() - 1);
    const std::size_t plus = sum.find('+');
    if (plus == std::string_view::npos) return std::nullopt;
    const std::string_view a = sum.substr(0, plus), b = sum.substr(plus + 1);
    if (!isNumber(a) || !isNumber(b)) return std::nullopt;
    return ProblemSize{static_cast<std::int64_t>(a.size()), static_cast<std::int64_t>(b.size())};
}

/// In "?d=12+345; …" the operands and where they end are random; everything after them is determined.
std::vector<double> AdditionTask::idealSurprisals(std::string_view problem) const {
    std::vector<double> surprisals(problem.size());
    std::size_t at = kQuestion.size();
    for (int operand = 0; operand < 2; ++operand) {
        std::int64_t digits = 0;
        for (; at < problem.size() && isDigit(problem[at]); ++at, ++digits)
            surprisals[at] =
                surprisalOfContinuing(digits, 1, digits_max_) + std::log(digits == 0 ? 9.0 : 10.0);
        if (at < problem.size()) surprisals[at++] = surprisalOfEnding(digits, 1, digits_max_);
    }
    return surprisals;
}

ProblemSize AdditionTask::drawSize(Random& random) const {
    const std::int64_t a = random.between(1, digits_max_);
    return {a, random.between(1, digits_max_)};
}

Problem AdditionTask::drawOfSize(Random& random, ProblemSize size) const {
    const std::int64_t a = drawOperand(random, size.first);
    return makeProblem(a, drawOperand(random, size.second));
}

double AdditionTask::problemCountOfSize(ProblemSize size) const {
    return 81 * std::pow(10.0, static_cast<double>(size.first + size.second - 2));
}

TaskKind additionTask() {
    TaskKind kind;
    kind.name = "addition";
    kind.help = "step-by-step addition";
    kind.settings = {integerSetting("digits_max", "digits",
                                    "Addition: largest number of digits of an operand", {1, 18}, 3)};
    kind.has_problems = true;
    kind.length_settings = {"digits_max"};
    kind.length_unit = "digits";
    kind.length = [](ProblemSize size) { return std::max(size.first, size.second); };
    kind.make = [](const DeclaredSettings& s) {
        return std::make_unique<AdditionTask>(s.integer("digits_max"));
    };
    return kind;
}

}  // namespace roper
