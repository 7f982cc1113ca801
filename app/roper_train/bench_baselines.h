#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/bench.h"

namespace roper {

/// Another program that trains the same model, tests/bench/baselines.py, in a separate process that takes
/// steps on command.
class Baseline {
  public:
    struct Kind {
        std::string name;      ///< in the table
        std::string baseline;  ///< in the script
        bool warm_heap;        ///< with our heap settings
        int steps_per_round;
        std::string precision = "fp32";  ///< bf16: by torch.autocast
    };
    /// Starts it and waits for its first step.
    /// @param vocabulary  number of tokens of the model
    /// @throws Error (usage) if `./lab setup --baselines` has not been run, Error (other) if it ends
    /// prematurely
    Baseline(Kind kind, const Specification& specification, std::int64_t vocabulary);
    ~Baseline();

    /// Takes its steps of a round. @throws Error (other) if the process has ended
    void runSteps();

    const Kind& kind() const { return kind_; }
    const BenchTimes& times() const { return times_; }
    double firstStepSeconds() const { return first_step_s_; }
    double peakMegabytes() const { return peak_mb_; }  ///< after its first step

  private:
    Kind kind_;
    std::unique_ptr<class PipedProcess> process_;
    double first_step_s_ = 0, peak_mb_ = 0;
    BenchTimes times_;
};

/// Starts all baselines. @throws like Baseline
std::vector<std::unique_ptr<Baseline>> startBaselines(const Specification& specification,
                                                      std::int64_t vocabulary);

}  // namespace roper
