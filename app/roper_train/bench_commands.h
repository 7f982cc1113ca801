#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace roper {

struct BenchOptions {
    std::string work = "step";  ///< step, attention, generate, baselines; first is what `step` calls
    std::string what;           ///< a preset's name or a specification's path; empty: A and B
    std::vector<std::string> settings;
    std::filesystem::path runs;
    int times = 0;          ///< 0: as many as say something
    std::string target;     ///< the kernels' instruction set; empty: the best
    bool remember = false;  ///< keep a step's time for the board
    bool json = false;
};

/// Measures how fast this machine trains, attends or generates (docs/performance.md), with both methods;
/// steps of both are interleaved.
int benchCommand(const BenchOptions& options);

}  // namespace roper
