#pragma once

#include <vector>

#include "core/tasks/task.h"

namespace roper {

/// Substring by prefix: "[random]>[substring][random]>[substring]…" over four letters. Each substring has
/// `substring_length` letters and starts at a uniformly drawn position of the letters so far (without '>').
/// The first random part is longer by substring_length, so that a substring can be drawn from it.
class PrefixTask final : public Task {
  public:
    /// @param random_min, random_max  bounds of the number of letters of a random part, drawn uniformly
    PrefixTask(std::int64_t substring_length, std::int64_t random_min, std::int64_t random_max);

    bool hasProblems() const override { return false; }
    std::string sequence(std::uint64_t seed, Stream stream, std::uint64_t index, int length) const override;

    /// Surprisal, in nats, of each character for an ideal predictor that knows how sequences are generated:
    /// ln 4 for a random letter (more where the part might have ended), −ln of its probability for '>', and
    /// for a repeated letter −ln of the fraction of possible start positions that continue with it.
    /// @throws std::invalid_argument if the text cannot come from this task
    std::vector<double> idealSurprisals(std::string_view sequence) const;

    std::optional<double> lossLowerBound(std::string_view sequence) const override;

    std::vector<bool> determined(std::string_view sequence) const override;

  private:
    std::int64_t substring_length_, random_min_, random_max_;
};

}  // namespace roper
