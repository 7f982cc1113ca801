#pragma once

#include <cmath>

#include "core/runs/run_recorder.h"
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

/// Properties of a generated run.
struct FinishedRun {
    std::string name;
    std::string position = "rope";
    std::int64_t seed = 0;
    std::int64_t correct = 100;  ///< at the end; half as many in the middle
    std::int64_t rows = 100;     ///< rows of metrics.csv
    RunState state = RunState::finished;
};

/// Creates a run folder in the state that a trainer leaves, without training.
inline RunFolder makeFinishedRun(const std::filesystem::path& runs, const FinishedRun& wanted,
                                 const std::function<void(Specification&)>& change = {}) {
    Specification s;
    s.model.position = wanted.position;
    s.training.data_seed = s.training.model_seed = wanted.seed;
    s.training.steps = wanted.rows;
    s.training.warmup_steps = 0;
    if (change) change(s);
    const RunFolder folder = createRun(runs, wanted.name, s);
    std::vector<MetricsRow> metrics;
    for (std::int64_t step = 1; step <= wanted.rows; ++step) {
        MetricsRow row;
        row.step = step;
        row.time_s = 0.1 * static_cast<double>(step);
        row.tokens = 2048 * step;
        row.loss = 3.0 / std::sqrt(static_cast<double>(step)) +
                   0.1 * std::sin(static_cast<double>(step * wanted.seed));
        row.learning_rate = 1e-3 * std::min(1.0, static_cast<double>(step) / 10);
        row.grad_norm = 1 + 4.0 / static_cast<double>(step);
        row.tokens_per_s = 20480;
        metrics.push_back(row);
    }
    writeFileAtomically(folder.metricsPath(), formatRows(metrics), Durability::process_death);
    std::vector<EvaluationRow> evaluations;
    for (const std::int64_t step : {wanted.rows / 2, wanted.rows}) {
        EvaluationRow row;
        row.step = step;
        row.time_s = 0.1 * static_cast<double>(step);
        row.correct = step == wanted.rows ? wanted.correct : wanted.correct / 2;
        row.total = 128;
        row.loss = 0.5;
        evaluations.push_back(row);
    }
    writeFileAtomically(folder.pathOf<EvaluationRow>(), formatRows(evaluations), Durability::process_death);
    Status status;
    status.state = wanted.state;
    status.step = status.steps = wanted.rows;
    status.host = thisHost();
    writeStatus(folder.statusPath(), status, Durability::process_death);
    return folder;
}

}  // namespace roper
