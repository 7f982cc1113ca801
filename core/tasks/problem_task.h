#pragma once

#include "core/tasks/task.h"

namespace roper {

/// A task whose training text is problems in a row, each ended by '#'.
class ProblemTask : public Task {
  public:
    bool hasProblems() const final { return true; }

    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const final {
        Random random(seed, stream, index);
        std::string text;
        while (text.size() < static_cast<std::size_t>(length))
            text += draw(random).text();
        text.resize(static_cast<std::size_t>(length));
        return text;
    }

    Problem problem(std::uint64_t seed, Stream stream, std::uint64_t index) const final {
        Random random(seed, stream, index);
        return draw(random);
    }

    bool isComplete(std::string_view completion) const final {
        return completion.find('#') != std::string_view::npos;
    }

  protected:
    using Task::Task;
    virtual Problem draw(Random& random) const = 0;
};

}  // namespace roper
