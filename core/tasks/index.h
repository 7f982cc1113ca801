#pragma once

#include "core/tasks/problem_task.h"

namespace roper {

/// Substring by index: "?s='dyjeofuxvejmg'; s[8:]=='vejmg'#". The prompt ends with "=='".
class IndexTask final : public ProblemTask {
  public:
    /// Strings have string_min … string_max letters, evenly drawn; the index is drawn from 0 … letters − 1.
    IndexTask(std::int64_t string_min, std::int64_t string_max);

    static Problem problemFor(const std::string& letters, std::int64_t index);

    /// Right if the completion up to its first quote is the suffix.
    bool isRight(const Problem& problem, std::string_view completion) const override;
    int longestPrompt() const override { return longest_prompt_; }
    int longestAnswer() const override { return longest_answer_; }

  private:
    Problem draw(Random& random) const override;

    std::int64_t string_min_, string_max_;
    int longest_prompt_;
    int longest_answer_;
};

}  // namespace roper
