#pragma once

#include <cstdint>
#include <vector>

#include "core/runs/specification.h"

namespace roper {

/// Times of one kind of work, in seconds, one after the other.
struct BenchTimes {
    std::vector<double> seconds;

    double median() const;
    double least() const;
    double greatest() const;
};

/// Times of whole training steps (batch, forward, backward, update) of a new model, after `warm_up` others:
/// at least `steps` of them, and as many more as fit into `least_seconds`, since a few short ones say little.
BenchTimes benchSteps(const Specification& specification, int steps, int warm_up = 2,
                      double least_seconds = 0);

/// What it takes to let an untrained model answer `evaluation.problems` problems of the longest answers
/// through the key/value cache.
struct GenerationBench {
    BenchTimes times;
    std::int64_t characters = 0;  ///< written each time
};
GenerationBench benchGeneration(const Specification& specification, int times);

}  // namespace roper
