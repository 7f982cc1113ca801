#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/bench/bench.h"

namespace roper {

/// Another implementation that trains the same model: a process of tests/bench/baselines.py, which computes
/// steps on command.
class Baseline {
  public:
    struct Kind {
        std::string name;                ///< shown in the table
        std::string baseline;            ///< argument of the script
        bool warm_heap;                  ///< use the heap settings of keepFreedHeapMemory
        int steps_per_round;             ///< steps computed by one runSteps()
        std::string precision = "fp32";  ///< fp32, or bf16 by torch.autocast
    };
    /// Starts the process and waits for its first step.
    /// @param vocabulary  number of tokens of the model
    /// @throws Error (usage) if `./lab setup --baselines` has not been run, Error (other) if the process ends
    /// prematurely
    Baseline(Kind kind, const Specification& specification, std::int64_t vocabulary);
    ~Baseline();

    /// Computes the steps of one round. @throws Error (other) if the process has ended
    void runSteps();

    const Kind& kind() const { return kind_; }
    const BenchTimes& times() const { return times_; }
    double firstStepSeconds() const { return first_step_s_; }
    double peakMegabytes() const { return peak_mb_; }  ///< of the process, in the first step

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
