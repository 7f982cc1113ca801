#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// Records of runs, together with their rows.
class ComparedRuns {
  public:
    RunRecord& add(RunRecord record, std::vector<EvaluationRow> evaluations,
                   std::vector<MetricsRow> metrics = {}) {
        Rows& rows = rows_.emplace_back(Rows{std::move(metrics), std::move(evaluations)});
        record.metrics = rows.metrics;
        record.evaluations = rows.evaluations;
        return records.emplace_back(std::move(record));
    }

    /// Adds a run of 100 steps that solved `correct` of 128 problems at the end, and half as many in the
    /// middle.
    RunRecord& add(const std::string& position, std::int64_t seed, std::optional<std::int64_t> correct,
                   RunState state = RunState::finished) {
        RunRecord record;
        Specification& s = record.specification;
        s.model.position = position;
        s.training.data_seed = s.training.model_seed = seed;
        s.training.steps = 100;
        std::vector<EvaluationRow> evaluations;
        for (const std::int64_t step : {50, 100}) {
            EvaluationRow row;
            row.step = step;
            row.time_s = static_cast<double>(step) / 10;
            if (correct) row.correct = step == 50 ? *correct / 2 : *correct;
            row.total = 128;
            row.loss = 1.0 / static_cast<double>(step);
            evaluations.push_back(row);
        }
        std::vector<MetricsRow> metrics;
        for (std::int64_t step = 1; step <= 100; ++step)
            metrics.push_back({step, static_cast<double>(step) / 10, step * 2048,
                               2.0 - 0.01 * static_cast<double>(step), 1e-3, 1, 1});
        record.name = position + "-s" + std::to_string(seed);
        record.state = state;
        record.host = "here";
        return add(std::move(record), std::move(evaluations), std::move(metrics));
    }

    /// Evaluations of the run added last.
    std::vector<EvaluationRow>& evaluations() { return rows_.back().evaluations; }

    std::vector<RunRecord> records;

  private:
    struct Rows {
        std::vector<MetricsRow> metrics;
        std::vector<EvaluationRow> evaluations;
    };
    std::list<Rows> rows_;
};

/// Five pairs with differences 10, 12, 8, 11, 9.
inline ComparedRuns fivePairs() {
    ComparedRuns runs;
    for (std::int64_t seed = 0; seed < 5; ++seed) {
        runs.add("rope", seed, 100 + seed);
        runs.add("roper", seed,
                 100 + seed + std::vector<std::int64_t>{10, 12, 8, 11, 9}[static_cast<std::size_t>(seed)]);
    }
    return runs;
}

}  // namespace roper
