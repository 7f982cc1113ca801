#pragma once

#include "core/specification/specification.h"

namespace roper {

/// A run whose steps take less than a millisecond.
/// @param s      the initial specification, for example with the task
/// @param steps  steps to train
inline Specification tinyRun(Specification s, std::int64_t steps) {
    s.model = {};
    s.model.width = 32;
    s.model.layers = 1;
    s.model.heads = 2;
    s.model.feed_forward = 32;
    s.training.batch = 4;
    s.training.steps = steps;
    s.training.warmup_steps = 2;
    s.evaluation.every = 50;
    s.evaluation.problems = 4;
    s.checkpoints.every = 100;
    s.device.threads = 1;
    return s;
}

}  // namespace roper
