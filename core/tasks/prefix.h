#pragma once

#include <vector>

#include "core/tasks/task.h"

namespace roper {

/// Substring by prefix: "[random]>[substring][random]>[substring]…" over four letters. Each substring is
/// `substring_length` letters long and starts at an evenly drawn place of the letters so far ('>' left out).
/// The first random part is longer by substring_length, so that there is something to draw from.
class PrefixTask final : public Task {
  public:
    PrefixTask(std::int64_t substring_length, std::int64_t random_min, std::int64_t random_max);

    bool hasProblems() const override { return false; }
    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const override;

    /// Cost in nats of each character for an observer who knows how sequences are made and predicts as well
    /// as can be: a fresh letter costs ln 4 (more where the part might have ended), '>' the logarithm of its
    /// chance, a repeated letter −ln of the share of the places still possible that go on with it.
    /// @throws std::invalid_argument if the text cannot come from this task
    std::vector<double> idealCosts(std::string_view sequence) const;

    std::optional<double> lossLowerBound(std::string_view sequence) const override;

    std::vector<bool> determined(std::string_view sequence) const override;

  private:
    std::int64_t substring_length_, random_min_, random_max_;
};

}  // namespace roper
