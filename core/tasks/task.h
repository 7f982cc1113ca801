#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// A problem to be completed: the model is given `prompt` and should write `answer`.
struct Problem {
    std::string prompt;
    std::string answer;

    std::string text() const { return prompt + answer; }
};

/// What makes a problem small or large: digits of both operands, or letters of the string and the index.
struct ProblemSize {
    std::int64_t first = 0, second = 0;

    auto operator<=>(const ProblemSize&) const = default;
};

/// Problems solved of one size.
struct SizeScore {
    ProblemSize size;
    std::int64_t correct = 0, of = 0;
    std::optional<std::int64_t> fully_correct = {};  ///< with every step of the working, where there is one
};

/// What a model learns: a synthetic task at character level (Harik & Jayasiri 2022), or a text. Everything
/// follows from a seed, a stream and an index, so that any sequence or problem can be made without those
/// before it.
class Task {
  public:
    virtual ~Task() = default;

    const Vocabulary& vocabulary() const { return vocabulary_; }

    /// Training text `index` of a stream: exactly `length` characters, problems one after the other, the last
    /// cut.
    virtual std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index,
                                 int length) const = 0;

    /// The same as tokens: exactly `length` of them, where a token is not a character.
    virtual std::vector<std::int64_t> tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                             int length) const;

    /// Whether the task has problems with one right answer each; otherwise its result is a loss.
    virtual bool hasProblems() const = 0;

    /// Whether a model may go on with a sequence in many ways, so that what it writes is neither right nor
    /// wrong.
    virtual bool isOpenEnded() const { return false; }

    /// How many different validation sequences of `length` tokens there are.
    virtual std::int64_t validationSequences(int length) const;

    /// Problem `index` of a stream. @throws std::logic_error where the task has none
    virtual Problem problem(std::uint64_t seed, Stream stream, std::uint64_t index) const;

    /// The same with the size given. @throws std::logic_error where the task has none
    virtual Problem problemOfSize(std::uint64_t seed, Stream stream, std::uint64_t index,
                                  ProblemSize size) const;

    /// How many sizes there are; `sizes` may be very long.
    virtual std::int64_t sizeCount() const { return 0; }

    /// All sizes, by rising first and second number; empty where the task has no problems.
    virtual std::vector<ProblemSize> sizes() const { return {}; }

    /// What the two numbers of a size count; empty where the task has no problems.
    virtual std::vector<std::string> sizeNames() const { return {}; }

    /// The size of the problem with this prompt; nothing if it is none of this task.
    virtual std::optional<ProblemSize> sizeOf(std::string_view prompt) const;

    /// Whether training never shows this problem. About one problem in 32 of every size that has at least
    /// 1,000 is held out; for such sizes evaluations use held-out problems only.
    virtual bool isHeldOut(const Problem& problem) const;

    /// The prompts of the problems in a training sequence, or the parts of them that decide what is held out;
    /// of the last problem only if it is complete.
    virtual std::vector<std::string_view> promptsIn(std::string_view sequence) const;

    /// Which characters of a sequence follow with certainty from those before: the letters of a repeated
    /// substring once its position is uniquely determined. Empty where a task has none.
    virtual std::vector<bool> determined(std::string_view sequence) const;

    /// Whether what the model wrote after the prompt solves the problem.
    virtual bool isCorrect(const Problem& problem, std::string_view completion) const;

    /// Whether it also writes every step of the working, and nothing else before its end. Nothing where
    /// problems have no working.
    virtual std::optional<bool> isFullyRight(const Problem& /*problem*/,
                                             std::string_view /*completion*/) const {
        return std::nullopt;
    }

    /// Whether `completion` already ends the problem, so that no more need be written.
    virtual bool isComplete(std::string_view completion) const;

    /// Characters of the longest prompt and of the longest right answer.
    virtual int longestPrompt() const { return 0; }
    virtual int longestAnswer() const { return 0; }

    /// Characters of the longest problem, prompt and answer.
    virtual int longestProblem() const { return longestPrompt() + longestAnswer(); }

    /// Mean loss, in nats per character, of the best predictor on characters 1 … n−1 of this sequence, given
    /// those before each: it knows how sequences are made, and nothing more. On average over many sequences
    /// no predictor can do better. Nothing where it has not been worked out.
    virtual std::optional<double> lossLowerBound(std::string_view sequence) const;

  protected:
    explicit Task(const std::string& characters) : vocabulary_(characters) {}
    explicit Task(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  private:
    Vocabulary vocabulary_;
};

}  // namespace roper
