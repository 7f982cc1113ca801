#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/tasks/problem_task.h"

namespace roper {
namespace {

/// Copy: "dyjeof>dyjeof#", a string and its copy. The prompt ends with '>'. The size of a problem is the
/// number of letters of the string, and the number of copies, always one.
class CopyTask final : public ProblemTask {
  public:
    /// The length of a string is drawn uniformly from copy_min … copy_max letters.
    CopyTask(std::int64_t copy_min, std::int64_t copy_max)
        : ProblemTask("abcdefghijklmnopqrstuvwxyz>#"), least_(copy_min), most_(copy_max) {
        if (copy_min < 1 || copy_max < copy_min || copy_max > 10000)
            throw std::invalid_argument(
                "string lengths must satisfy 1 <= copy_min <= copy_max <= 10000, not " +
                std::to_string(copy_min) + " and " + std::to_string(copy_max));
        const auto longest = static_cast<std::size_t>(copy_max) + 1;
        setMaxLengths(longest, longest);
    }

    /// Correct if the completion up to its first '#' is the string.
    bool isCorrect(const Problem& problem, std::string_view completion) const override {
        return completion.substr(0, problem.answer.size()) == problem.answer;
    }

    std::int64_t sizeCount() const override { return most_ - least_ + 1; }
    std::vector<ProblemSize> sizes() const override {
        std::vector<ProblemSize> all;
        for (std::int64_t letters = least_; letters <= most_; ++letters)
            all.push_back({letters, 1});
        return all;
    }
    std::vector<std::string> sizeNames() const override { return {"letters of the string", "copies"}; }
    std::optional<ProblemSize> sizeOf(std::string_view prompt) const override {
        if (prompt.size() < 2 || !prompt.ends_with(promptTerminator())) return std::nullopt;
        const std::string_view letters = prompt.substr(0, prompt.size() - 1);
        if (letters.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos)
            return std::nullopt;
        return ProblemSize{static_cast<std::int64_t>(letters.size()), 1};
    }

  private:
    /// The letters before '>' are random; the rest repeats them.
    std::vector<double> idealSurprisals(std::string_view problem) const override {
        std::vector<double> surprisals(problem.size());
        const std::size_t end = std::min(problem.find('>'), problem.size());
        for (std::size_t i = 0; i < end; ++i)
            surprisals[i] =
                surprisalOfContinuing(static_cast<std::int64_t>(i), least_, most_) + std::log(26.0);
        if (end < problem.size())
            surprisals[end] = surprisalOfEnding(static_cast<std::int64_t>(end), least_, most_);
        return surprisals;
    }

    ProblemSize drawSize(Random& random) const override { return {random.between(least_, most_), 1}; }

    Problem drawOfSize(Random& random, ProblemSize size) const override {
        const std::string letters = drawLetters(random, size.first);
        return {letters + ">", letters + "#"};
    }

    double problemCountOfSize(ProblemSize size) const override {
        return std::pow(26.0, static_cast<double>(size.first));
    }
    std::string_view promptTerminator() const override { return ">"; }

    std::int64_t least_, most_;
};

}  // namespace

TaskKind copyTask() {
    return taskOfLengths<CopyTask>(
        "copy", "copying a string",
        integerSetting("copy_min", "letters", "Copy: length of the shortest string", {1, 10000}, 3),
        integerSetting("copy_max", "letters", "Copy: length of the longest string", {1, 10000}, 12),
        "the shortest string must not be longer than the longest");
}

}  // namespace roper
