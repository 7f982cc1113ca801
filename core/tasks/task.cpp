#include "core/tasks/task.h"

#include <limits>
#include <stdexcept>

namespace roper {

std::vector<std::int64_t> Task::tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                       int length) const {
    return vocabulary_.encode(sequence(seed, stream, index, length));
}

std::int64_t Task::validationSequences(int) const {
    return std::numeric_limits<std::int64_t>::max();
}

Problem Task::problem(std::uint64_t, Stream, std::uint64_t) const {
    throw std::logic_error("this task has no problems with one correct answer; its result is a loss");
}

Problem Task::problemOfSize(std::uint64_t seed, Stream stream, std::uint64_t index, ProblemSize) const {
    return problem(seed, stream, index);
}

std::optional<ProblemSize> Task::sizeOf(std::string_view) const {
    return std::nullopt;
}

bool Task::isHeldOut(const Problem&) const {
    return false;
}

std::vector<std::string_view> Task::promptsIn(std::string_view) const {
    return {};
}

std::vector<bool> Task::determined(std::string_view) const {
    return {};
}

bool Task::isCorrect(const Problem&, std::string_view) const {
    return false;
}

bool Task::isComplete(std::string_view) const {
    return false;
}

std::optional<double> Task::lossLowerBound(std::string_view) const {
    return std::nullopt;
}

OverlapCounter::OverlapCounter(const Task& task, std::uint64_t seed, int length,
                               const std::vector<Problem>& problems)
    : task_(task), seed_(seed), length_(length) {
    for (const Problem& problem : problems)
        if (!task.isHeldOut(problem)) unseen_.insert(problem.prompt);
}

std::int64_t OverlapCounter::countInFirst(std::uint64_t sequences) {
    for (; scanned_ < sequences && !unseen_.empty(); ++scanned_) {
        const std::string text = task_.sequence(seed_, Stream::training, scanned_, length_);
        for (const std::string_view prompt : task_.promptsIn(text))
            seen_ += static_cast<std::int64_t>(unseen_.erase(std::string(prompt)));
    }
    return seen_;
}

}  // namespace roper
