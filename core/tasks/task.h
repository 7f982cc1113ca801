#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/tasks/random.h"
#include "core/tasks/vocabulary.h"

namespace roper {

/// What a run specification says about its task. Each task reads its own part.
struct TaskSettings {
    std::string name = "addition";  ///< addition, index or prefix
    std::int64_t digits_max = 3;    ///< addition: digits of an operand, 1 … 18
    std::int64_t string_min = 3;    ///< index: letters of a string
    std::int64_t string_max = 8;
    std::int64_t substring_length = 24;  ///< prefix: letters repeated after each '>'
    std::int64_t random_min = 4;         ///< prefix: fresh letters before each '>'
    std::int64_t random_max = 8;
};

/// A problem to be completed: the model is given `prompt` and should write `answer`.
struct Problem {
    std::string prompt;
    std::string answer;

    std::string text() const { return prompt + answer; }
};

/// A synthetic task at character level (Harik & Jayasiri 2022). Everything follows from a seed, a stream and
/// an index, so that any sequence or problem can be made without those before it.
class Task {
  public:
    virtual ~Task() = default;

    const Vocabulary& vocabulary() const { return vocabulary_; }

    /// Training text `index` of a stream: exactly `length` characters, problems one after the other, the last
    /// cut.
    virtual std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index,
                                 int length) const = 0;

    /// Whether the task has problems with one right answer each; otherwise its result is a loss.
    virtual bool hasProblems() const = 0;

    /// Problem `index` of a stream. @throws std::logic_error where the task has none
    virtual Problem problem(std::uint64_t seed, Stream stream, std::uint64_t index) const;

    /// Whether what the model wrote after the prompt solves the problem.
    virtual bool isRight(const Problem& problem, std::string_view completion) const;

    /// Whether `completion` already ends the problem, so that no more need be written.
    virtual bool isComplete(std::string_view completion) const;

    /// Characters of the longest prompt and of the longest right answer.
    virtual int longestPrompt() const { return 0; }
    virtual int longestAnswer() const { return 0; }

    /// The least mean loss, in nats a character, that any predictor can reach on characters 1 … n−1 of this
    /// sequence given those before each. Nothing where it has not been worked out.
    virtual std::optional<double> informationFloor(std::string_view sequence) const;

  protected:
    explicit Task(std::string characters) : vocabulary_(std::move(characters)) {}

  private:
    Vocabulary vocabulary_;
};

/// @throws std::invalid_argument for an unknown name, or if the settings of the chosen task contradict each
/// other
std::unique_ptr<Task> makeTask(const TaskSettings& settings);

}  // namespace roper
