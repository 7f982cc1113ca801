#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/compare/outcome.h"
#include "core/runs/speeds.h"

namespace roper {

/// Expected training time on this machine, and the basis of the estimate.
struct ExpectedTime {
    /// From the most to the least reliable.
    enum class Basis {
        same_settings,  ///< steps with the same settings or shape (`stepTimeKey`), timed on this machine
        other_runs,     ///< the rate of multiply-adds in other runs on this machine
        guess,          ///< nothing was timed here yet: the time in a preset, or a cautious rate
    };
    double seconds = 0;  ///< for one run after another, including evaluations
    Basis basis = Basis::same_settings;
};

/// Step times on this machine, collected once for estimates of any number of specifications.
class StepTimes {
  public:
    /// @param runs    of the folder; those of other machines are ignored
    /// @param speeds  of this machine, measured by `roper-train bench` or `board --measure`
    StepTimes(std::span<const RunRecord> runs, Speeds speeds);

    /// From runs with the same settings, else from those with the same model, batch, length and device, else
    /// as measured; empty if no such step was timed.
    std::optional<double> secondsPerStep(const Specification& specification) const;

    /// Time for a run of this specification from step `from` on. An evaluation by generation is counted as
    /// problems/batch steps: between 0.2 and 0.75 times as many were measured on a CPU, and up to 1.4 times
    /// with LibTorch's operations alone (docs/performance.md).
    ExpectedTime estimate(const Specification& specification, std::int64_t from = 0) const;

    /// The total for several; the basis is the least reliable one.
    ExpectedTime estimateTotal(std::span<const Specification> specifications) const;

  private:
    Speeds speeds_;
    std::map<std::string, double> by_group_,
        by_shape_;                           ///< fastest seconds per step by groupKey, stepTimeKey
    std::optional<double> flop_per_second_;  ///< the median over the shapes timed here
};

}  // namespace roper
