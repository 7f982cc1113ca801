#include "core/tasks/task.h"

#include <stdexcept>

namespace roper {

std::vector<std::int64_t> Task::tokens(std::uint64_t seed, Stream stream, std::uint64_t index,
                                       int length) const {
    return vocabulary_.encode(sequence(seed, stream, index, length));
}

Problem Task::problem(std::uint64_t, Stream, std::uint64_t) const {
    throw std::logic_error("this task has no problems with one correct answer; its result is a loss");
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
