#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "core/tasks/task.h"

namespace roper {

/// Counts which of an evaluation's problems a training stream has shown. Problems that are held out never
/// occur in it; only those of sizes too small to hold any out have to be looked for.
class OverlapCounter {
  public:
    /// @param seed, length  of the training sequences
    OverlapCounter(const Task& task, std::uint64_t seed, int length, const std::vector<Problem>& problems);

    /// How many of the problems occur in sequences 0 … `sequences` − 1. Each sequence is made once, however
    /// often this is called with rising numbers.
    std::int64_t upTo(std::uint64_t sequences);

  private:
    const Task& task_;
    std::uint64_t seed_;
    int length_;
    std::unordered_multiset<std::string> unseen_;  ///< prompts that may still appear
    std::int64_t seen_ = 0;
    std::uint64_t scanned_ = 0;
};

}  // namespace roper
