#include "core/tasks/index.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

namespace roper {
namespace {

constexpr std::string_view kStart = "?s='", kMiddle = "'; s[", kEnd = ":]=='";

/// How many of 0 … count − 1, written without leading zeros, begin with these digits.
std::int64_t numbersBeginningWith(const std::string& digits, std::int64_t count) {
    std::int64_t found = 0;
    for (std::int64_t number = 0; number < count; ++number)
        found += std::to_string(number).starts_with(digits) ? 1 : 0;
    return found;
}

}  // namespace

IndexTask::IndexTask(std::int64_t string_min, std::int64_t string_max)
    : ProblemTask("abcdefghijklmnopqrstuvwxyz0123456789?=';[]: #"),
      string_min_(string_min),
      string_max_(string_max) {
    if (string_min < 1 || string_max < string_min || string_max > 10000)
        throw std::invalid_argument(
            "string lengths must satisfy 1 <= string_min <= string_max <= 10000, not " +
            std::to_string(string_min) + " and " + std::to_string(string_max));
    const std::string letters(static_cast<std::size_t>(string_max), 'a');
    setMaxLengths(makeProblem(letters, string_max - 1).prompt.size(), makeProblem(letters, 0).answer.size());
}

Problem IndexTask::makeProblem(const std::string& letters, std::int64_t index) {
    return {"?s='" + letters + "'; s[" + std::to_string(index) + ":]=='",
            letters.substr(static_cast<std::size_t>(index)) + "'#"};
}

bool IndexTask::isCorrect(const Problem& problem, std::string_view completion) const {
    const std::size_t end = completion.find('\'');
    if (end == std::string_view::npos) return false;
    return completion.substr(0, end + 1) ==
           std::string_view(problem.answer).substr(0, problem.answer.size() - 1);
}

std::vector<ProblemSize> IndexTask::sizes() const {
    std::vector<ProblemSize> all;
    for (std::int64_t letters = string_min_; letters <= string_max_; ++letters)
        for (std::int64_t index = 0; index < letters; ++index)
            all.push_back({letters, index});
    return all;
}

std::optional<ProblemSize> IndexTask::sizeOf(std::string_view prompt) const {
    if (!prompt.starts_with(kStart) || !prompt.ends_with(kEnd)) return std::nullopt;
    const std::string_view inner =
        prompt.substr(kStart.size(), prompt.size() - std::min(prompt.size(), kStart.size() + kEnd.size()));
    const std::size_t middle = inner.find(kMiddle);
    if (middle == std::string_view::npos) return std::nullopt;
    const std::string_view digits = inner.substr(middle + kMiddle.size());
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return ProblemSize{static_cast<std::int64_t>(middle), index};
}

/// In "?s='dyjeof'; s[2:]=='jeof'#" the letters up to the second quote and the index are random.
std::vector<double> IndexTask::idealSurprisals(std::string_view problem) const {
    std::vector<double> surprisals(problem.size());
    std::size_t at = kStart.size();
    std::int64_t letters = 0;
    for (; at < problem.size() && problem[at] != '\''; ++at, ++letters)
        surprisals[at] = surprisalOfContinuing(letters, string_min_, string_max_) + std::log(26.0);
    if (at >= problem.size()) return surprisals;
    surprisals[at] = surprisalOfEnding(letters, string_min_, string_max_);
    at += kMiddle.size();
    // Among the indices that begin as written so far, counts those that continue with this digit or end here.
    for (std::string written; at < problem.size(); ++at) {
        const double before = static_cast<double>(numbersBeginningWith(written, letters));
        const bool ends = problem[at] == ':';
        if (!ends) written += problem[at];
        const double after = ends ? 1 : static_cast<double>(numbersBeginningWith(written, letters));
        surprisals[at] = std::log(before / after);
        if (ends) break;
    }
    return surprisals;
}

ProblemSize IndexTask::drawSize(Random& random) const {
    const std::int64_t letters = random.between(string_min_, string_max_);
    return {letters, random.between(0, letters - 1)};
}

Problem IndexTask::drawOfSize(Random& random, ProblemSize size) const {
    return makeProblem(drawLetters(random, size.first), size.second);
}

double IndexTask::problemCountOfSize(ProblemSize size) const {
    return std::pow(26.0, static_cast<double>(size.first));
}

TaskKind indexTask() {
    return taskOfLengths<IndexTask>(
        "index", "substring by index",
        integerSetting("string_min", "letters", "Index: length of the shortest string", {1, 10000}, 3),
        integerSetting("string_max", "letters", "Index: length of the longest string", {1, 10000}, 8),
        "the shortest string must not be longer than the longest");
}

}  // namespace roper
