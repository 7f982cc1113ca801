#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "core/compare/outcome.h"
#include "core/runs/speeds.h"

namespace roper {

/// How long training would take on this machine, and what that is known from.
struct ExpectedTime {
    /// From the surest to the least sure.
    enum class Basis {
        same_settings,  ///< steps of such a run were timed on this machine
        other_runs,     ///< the multiply-adds per second that other runs reached on this machine
        guess,          ///< nothing was timed here yet: a slow rate is assumed
    };
    double seconds = 0;  ///< one run after the other, evaluations included
    Basis basis = Basis::same_settings;
};

/// What steps took on this machine, looked up once and answered for any number of specifications.
class StepTimes {
  public:
    /// @param runs    those of the folder; of other machines they count for nothing
    /// @param speeds  of this machine, as `roper-train bench` or `board --measure` took them
    StepTimes(std::span<const RunRecord> runs, Speeds speeds);

    /// Of runs of the same settings, else of those of the same model, batch, length and device, else as
    /// measured; nothing if no such step was timed.
    std::optional<double> secondsAStep(const Specification& specification) const;

    /// Time for a run of this specification from its step `from` on.
    /// An evaluation by generation is counted as problems/batch steps: between 0.2 and 0.75 times as many
    /// were measured on a CPU, and up to 1.4 times by LibTorch's operations alone (docs/performance.md).
    ExpectedTime of(const Specification& specification, std::int64_t from = 0) const;

    /// The same for several; as sure as the least sure of them.
    ExpectedTime ofAll(std::span<const Specification> specifications) const;

  private:
    Speeds speeds_;
    std::map<std::string, double> of_group_, of_shape_;  ///< the least, in seconds
    std::optional<double> flop_per_second_;              ///< the median over the shapes timed here
};

}  // namespace roper
