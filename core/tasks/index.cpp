#include "core/tasks/index.h"

#include <stdexcept>

namespace roper {

IndexTask::IndexTask(std::int64_t string_min, std::int64_t string_max)
    : ProblemTask("abcdefghijklmnopqrstuvwxyz0123456789?=';[]: #"),
      string_min_(string_min),
      string_max_(string_max) {
    if (string_min < 1 || string_max < string_min || string_max > 10000)
        throw std::invalid_argument(
            "string lengths must satisfy 1 <= string_min <= string_max <= 10000, not " +
            std::to_string(string_min) + " and " + std::to_string(string_max));
    const std::string letters(static_cast<std::size_t>(string_max), 'a');
    longest_prompt_ = static_cast<int>(problemFor(letters, string_max - 1).prompt.size());
    longest_answer_ = static_cast<int>(problemFor(letters, 0).answer.size());
}

Problem IndexTask::problemFor(const std::string& letters, std::int64_t index) {
    return {"?s='" + letters + "'; s[" + std::to_string(index) + ":]=='",
            letters.substr(static_cast<std::size_t>(index)) + "'#"};
}

bool IndexTask::isRight(const Problem& problem, std::string_view completion) const {
    const std::size_t end = completion.find('\'');
    if (end == std::string_view::npos) return false;
    return completion.substr(0, end + 1) ==
           std::string_view(problem.answer).substr(0, problem.answer.size() - 1);
}

Problem IndexTask::draw(Random& random) const {
    const std::int64_t length = random.between(string_min_, string_max_);
    std::string letters;
    for (std::int64_t i = 0; i < length; ++i)
        letters += static_cast<char>('a' + random.between(0, 25));
    return problemFor(letters, random.between(0, length - 1));
}

}  // namespace roper
