#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roper {

struct BenchOptions {
    std::string work = "step";  ///< step, attention, generate, baselines; `step` is the default
    std::string what;           ///< a preset's name or a specification's path; empty: A and B
    std::vector<std::string> settings;
    std::filesystem::path runs;
    int times = 0;            ///< number of repetitions; 0: automatic
    std::string target;       ///< the kernels' instruction set; empty: the best
    bool save_speed = false;  ///< save the step time for the board
    bool json = false;
};

/// Measures the speed of training, attention or generation on this machine (docs/performance.md) with both
/// methods; steps of both are interleaved.
int benchCommand(const BenchOptions& options);

}  // namespace roper
