#pragma once

#include "core/tasks/task_kind.h"

namespace roper {

/// A task whose training text consists of consecutive problems, each ended by '#'.
class ProblemTask : public Task {
  public:
    bool hasProblems() const final { return true; }
    int maxPromptLength() const final { return max_prompt_length_; }
    int maxAnswerLength() const final { return max_answer_length_; }

    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const final;
    Problem problem(std::uint64_t seed, Stream stream, std::uint64_t index) const final;
    Problem problemOfSize(std::uint64_t seed, Stream stream, std::uint64_t index,
                          ProblemSize size) const final;

    bool isHeldOut(const Problem& problem) const final;
    bool isComplete(std::string_view completion) const override {
        return completion.find('#') != std::string_view::npos;
    }
    std::vector<std::string_view> promptsIn(std::string_view sequence) const final;
    /// The bound ignores that a few problems are held out; knowing which would save 0.03 nats per problem.
    std::optional<double> lossLowerBound(std::string_view sequence) const final;

  protected:
    using Task::Task;

    /// Lengths of the longest prompt and answer, in characters; called by constructors.
    void setMaxLengths(std::size_t prompt, std::size_t answer) {
        max_prompt_length_ = static_cast<int>(prompt);
        max_answer_length_ = static_cast<int>(answer);
    }

    /// Surprisal −ln p of each character of a problem, which may be truncated anywhere, for a predictor that
    /// knows how problems are drawn and has seen the characters before.
    virtual std::vector<double> idealSurprisals(std::string_view problem) const = 0;
    /// Surprisals, in nats, of the events that a part of a problem continues after `count` elements, or ends,
    /// if its length is uniformly distributed over `min_count` … `max_count`.
    static double surprisalOfContinuing(std::int64_t count, std::int64_t min_count, std::int64_t max_count);
    static double surprisalOfEnding(std::int64_t count, std::int64_t min_count, std::int64_t max_count);

    /// `count` random letters from a to z.
    static std::string drawLetters(Random& random, std::int64_t count);

    virtual ProblemSize drawSize(Random& random) const = 0;
    virtual Problem drawOfSize(Random& random, ProblemSize size) const = 0;
    /// Number of different problems of a size.
    virtual double problemCountOfSize(ProblemSize size) const = 0;
    /// The characters that end every prompt and occur nowhere earlier in a problem. If a prompt continues
    /// after them, `holdoutKey` ends with them.
    virtual std::string_view promptTerminator() const = 0;
    /// The part of a prompt that decides whether a problem is held out; training never shows a held-out part.
    virtual std::string_view holdoutKey(std::string_view prompt) const { return prompt; }

  private:
    Problem drawForTraining(Random& random) const;
    Problem drawForEvaluation(Random& random, ProblemSize size) const;

    int max_prompt_length_ = 0, max_answer_length_ = 0;
};

/// The `TaskKind` of a task whose problems have lengths between two settings, in the settings' unit.
/// @param message  shown if the smallest length is above the largest
template <class LengthTask>
TaskKind taskOfLengths(const std::string& name, const std::string& help, const DeclaredSetting& smallest,
                       const DeclaredSetting& largest, const std::string& message) {
    TaskKind kind;
    kind.name = name;
    kind.help = help;
    kind.settings = {smallest, largest};
    kind.has_problems = true;
    kind.length_settings = {smallest.name, largest.name};
    kind.length_unit = smallest.unit;
    kind.length = [](ProblemSize size) { return size.first; };
    kind.check = requireOrdered(smallest.name, largest.name, message);
    kind.make = [low = smallest.name, high = largest.name](const DeclaredSettings& s) {
        return std::make_unique<LengthTask>(s.integer(low), s.integer(high));
    };
    return kind;
}

}  // namespace roper
