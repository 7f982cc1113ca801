#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/random.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// A problem to be completed: the model gets `prompt` and should write `answer`.
struct Problem {
    std::string prompt;
    std::string answer;

    std::string text() const { return prompt + answer; }
};

/// The two numbers that determine a problem's size, such as the digits of both operands, or the letters of
/// the string and the index.
struct ProblemSize {
    std::int64_t first = 0, second = 0;

    auto operator<=>(const ProblemSize&) const = default;
};

/// Number of solved problems of one size.
struct SizeScore {
    ProblemSize size;
    std::int64_t correct = 0, total = 0;  ///< problems solved, and problems in total
    /// Number of problems solved with every step of the working correct; nullopt if the task has no working.
    std::optional<std::int64_t> fully_correct = {};
};

/// What a model learns: a synthetic task at character level (Harik & Jayasiri 2022), or a text. Everything
/// follows from a seed, a stream and an index, so any sequence or problem can be generated without the
/// earlier ones.
class Task {
  public:
    virtual ~Task() = default;

    const Vocabulary& vocabulary() const { return vocabulary_; }

    /// Training text `index` of a stream: exactly `length` characters of consecutive problems, the last one
    /// truncated.
    virtual std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index,
                                 int length) const = 0;

    /// The same as exactly `length` tokens, for tasks whose tokens are not characters.
    virtual std::vector<std::int64_t> tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                             int length) const;

    /// Whether each problem of the task has one correct answer; otherwise the task is measured by its loss.
    virtual bool hasProblems() const = 0;

    /// Whether a sequence can be continued in many ways, so that generated text is neither correct nor wrong.
    virtual bool isOpenEnded() const { return false; }

    /// Number of different validation sequences of `length` tokens.
    virtual std::int64_t validationSequences(int /*length*/) const {
        return std::numeric_limits<std::int64_t>::max();
    }

    /// Problem `index` of a stream. @throws std::logic_error if the task has no problems
    virtual Problem problem(std::uint64_t seed, Stream stream, std::uint64_t index) const;

    /// The same for a given size. @throws std::logic_error if the task has no problems
    virtual Problem problemOfSize(std::uint64_t seed, Stream stream, std::uint64_t index,
                                  ProblemSize /*size*/) const {
        return problem(seed, stream, index);
    }

    /// Number of sizes; `sizes` may be a very long list.
    virtual std::int64_t sizeCount() const { return 0; }

    /// All sizes in lexicographic order; empty if the task has no problems.
    virtual std::vector<ProblemSize> sizes() const { return {}; }

    /// What the two numbers of a size count; empty if the task has no problems.
    virtual std::vector<std::string> sizeNames() const { return {}; }

    /// The size of the problem with this prompt; nullopt if this is not a prompt of the task.
    virtual std::optional<ProblemSize> sizeOf(std::string_view /*prompt*/) const { return std::nullopt; }

    /// Whether training never shows this problem. About one in 32 problems of every size with at least 1,000
    /// problems is held out; evaluations of such sizes use only held-out problems.
    virtual bool isHeldOut(const Problem& /*problem*/) const { return false; }

    /// The prompts of the problems in a training sequence, or the parts that decide whether they are held
    /// out; a truncated one at the end is left out.
    virtual std::vector<std::string_view> promptsIn(std::string_view /*sequence*/) const { return {}; }

    /// Which characters of a sequence are determined by the preceding ones, such as the letters of a repeated
    /// substring once its position is unique. Empty if the task does not support this.
    virtual std::vector<bool> determined(std::string_view /*sequence*/) const { return {}; }

    /// Whether the model's completion solves the problem.
    virtual bool isCorrect(const Problem& /*problem*/, std::string_view /*completion*/) const {
        return false;
    }

    /// Whether the completion also contains every step of the working and nothing else before its end;
    /// nullopt if problems have no working.
    virtual std::optional<bool> isFullyCorrect(const Problem& /*problem*/,
                                               std::string_view /*completion*/) const {
        return std::nullopt;
    }

    /// Whether `completion` already ends the problem, so that generation can stop.
    virtual bool isComplete(std::string_view /*completion*/) const { return false; }

    /// Lengths of the longest prompt and the longest correct answer, in characters.
    virtual int maxPromptLength() const { return 0; }
    virtual int maxAnswerLength() const { return 0; }

    /// Length of the longest problem, prompt and answer, in characters.
    virtual int maxProblemLength() const { return maxPromptLength() + maxAnswerLength(); }

    /// Mean loss of an ideal predictor on characters 1 … n−1 of this sequence, in nats per character. It
    /// knows how sequences are generated and the preceding characters, nothing more. On average over many
    /// sequences no predictor can do better. Nullopt if the bound has not been derived.
    virtual std::optional<double> lossLowerBound(std::string_view /*sequence*/) const { return std::nullopt; }

  protected:
    explicit Task(const std::string& characters) : vocabulary_(characters) {}
    explicit Task(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

  private:
    Vocabulary vocabulary_;
};

/// Counts the problems of an evaluation that occurred in a training stream. Held-out problems never do, so
/// it searches only for problems of sizes with too few problems to hold any out.
class OverlapCounter {
  public:
    /// @param seed, length  of the training sequences
    OverlapCounter(const Task& task, std::uint64_t seed, int length, const std::vector<Problem>& problems);

    /// Number of the problems that occur in sequences 0 … `sequences` − 1. Repeated calls with increasing
    /// numbers generate each sequence only once.
    std::int64_t countInFirst(std::uint64_t sequences);

  private:
    const Task& task_;
    std::uint64_t seed_;
    int length_;
    std::unordered_multiset<std::string> unseen_;  ///< prompts not seen so far
    std::int64_t seen_ = 0;                        ///< number of problems
    std::uint64_t scanned_ = 0;                    ///< number of sequences
};

}  // namespace roper
