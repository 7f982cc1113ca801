#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "core/tasks/task.h"

namespace roper {

/// Counts the problems of an evaluation that occurred in a training stream. Held-out problems never do, so
/// only problems of sizes too small for holding any out must be searched for.
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
    std::int64_t seen_ = 0;
    std::uint64_t scanned_ = 0;
};

}  // namespace roper
