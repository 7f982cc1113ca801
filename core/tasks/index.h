#pragma once

#include "core/tasks/problem_task.h"

namespace roper {

/// Substring by index: "?s='dyjeofuxvejmg'; s[8:]=='vejmg'#". The prompt ends with "=='", the
/// opening quote of the answer. A problem's size is the length of the string, and the index.
class IndexTask final : public ProblemTask {
  public:
    /// The length of a string is drawn uniformly from string_min … string_max letters, the index from its
    /// positions.
    IndexTask(std::int64_t string_min, std::int64_t string_max);

    static Problem makeProblem(const std::string& letters, std::int64_t index);

    /// Correct if the completion up to its first quote, which closes the answer, is the suffix.
    bool isCorrect(const Problem& problem, std::string_view completion) const override;
    std::int64_t sizeCount() const override {
        return (string_max_ - string_min_ + 1) * (string_min_ + string_max_) / 2;
    }
    std::vector<ProblemSize> sizes() const override;
    std::vector<std::string> sizeNames() const override { return {"letters of the string", "index"}; }
    std::optional<ProblemSize> sizeOf(std::string_view prompt) const override;

  private:
    std::vector<double> idealSurprisals(std::string_view problem) const override;
    ProblemSize drawSize(Random& random) const override;
    Problem drawOfSize(Random& random, ProblemSize size) const override;
    double problemCountOfSize(ProblemSize size) const override;
    std::string_view promptTerminator() const override { return "=='"; }

    std::int64_t string_min_, string_max_;
};

}  // namespace roper
