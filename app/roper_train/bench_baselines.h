#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/child_process.h"
#include "core/bench/bench.h"

namespace roper {

/// How fast a program trains, and with how much memory.
struct ProgramBench {
    std::string name, precision;
    BenchTimes times;     ///< of the steps
    double first_step_s;  ///< from the start of the process to the end of its first step
    double peak_mb;       ///< of the process, in the first step
};

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

    /// Computes the steps of one round. @throws Error (other) if the process has ended
    void runSteps();

    ProgramBench measured() const { return {kind_.name, kind_.precision, times_, first_step_s_, peak_mb_}; }

  private:
    Kind kind_;
    std::unique_ptr<PipedProcess> process_;
    double first_step_s_ = 0, peak_mb_ = 0;
    BenchTimes times_;
};

/// Starts all baselines. @throws like Baseline
std::vector<Baseline> startBaselines(const Specification& specification, std::int64_t vocabulary);

}  // namespace roper
