#pragma once

#include "core/tasks/problem_task.h"

namespace roper {

/// Step-by-step addition: "?d=66623+401; 3e0+1e0+0e0==4e0 and 2e1+0e1+0e1==2e1 and … and d==67024#", where e1
/// marks the tens. Each step adds the digits of one decimal place and the carry, until both operands are used
/// up and the carry is 0. The prompt ends with ';'. A problem's size is the number of digits of each operand.
class AdditionTask final : public ProblemTask {
  public:
    /// @param digits_max  1 … 18; the number of digits of each operand is drawn uniformly from 1 … digits_max
    explicit AdditionTask(std::int64_t digits_max);

    static Problem makeProblem(std::int64_t a, std::int64_t b);

    /// Correct if the last "d==…#" up to the first '#' gives the sum.
    bool isCorrect(const Problem& problem, std::string_view completion) const override;
    std::optional<bool> isFullyCorrect(const Problem& problem, std::string_view completion) const override {
        return completion.starts_with(problem.answer);
    }
    std::int64_t sizeCount() const override { return digits_max_ * digits_max_; }
    std::vector<ProblemSize> sizes() const override;
    std::vector<std::string> sizeNames() const override {
        return {"digits of the first operand", "digits of the second operand"};
    }
    std::optional<ProblemSize> sizeOf(std::string_view prompt) const override;

  private:
    std::vector<double> idealSurprisals(std::string_view problem) const override;
    ProblemSize drawSize(Random& random) const override;
    Problem drawOfSize(Random& random, ProblemSize size) const override;
    double problemCountOfSize(ProblemSize size) const override;
    std::string_view promptTerminator() const override { return ";"; }

    std::int64_t digits_max_;
};

}  // namespace roper
