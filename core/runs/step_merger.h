#pragma once

#include <array>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/runs/import_columns.h"
#include "core/runs/rows.h"

namespace roper {

/// Facts about the steps of a table, collected in a first pass over its rows: where the step goes back, and
/// how the time column counts.
class StepAnalysis {
  public:
    StepAnalysis(const ExternalTable& table, const ImportColumns& columns);

    /// Whether the row with this index, from 0, was replaced by a later one. To be called in the order of the
    /// rows.
    bool isReplaced(std::size_t number, std::int64_t step);
    void restart() { next_reset_ = 0; }  ///< before another pass over the rows

    bool isMonotonic() const { return monotonic_; }
    /// Training time in seconds, from a time in the column's unit.
    double seconds(double time) const { return (time - time_origin_) / time_unit_; }

    std::vector<std::string> notes() const;

  private:
    void process(const StepRow& row);
    void findClock();

    /// A row at which the step goes back to one that already has a row: all earlier rows from that step on
    /// belong to a session whose end was discarded.
    struct StepReset {
        std::size_t number = 0;           ///< index of the row
        std::int64_t step = 0, from = 0;  ///< its step, and the highest step before
        std::size_t at = 0;               ///< its line or event, for `ExternalTable::locationOf`
    };

    const ExternalTable& table_;
    const ImportColumns& columns_;
    std::vector<StepReset> resets_;
    std::vector<std::int64_t> min_step_after_;  ///< the smallest step of each reset and all later ones
    std::size_t number_ = 0, next_reset_ = 0;
    std::int64_t last_ = -1;
    std::array<std::int64_t, kImportFieldCount> last_step_of_field_{};
    bool monotonic_ = true;
    double min_time_ = std::numeric_limits<double>::infinity();
    double time_origin_ = 0, time_unit_ = 1;
    SkippedRows skipped_;
};

/// Destination of the rows of an imported run.
struct ImportedRows {
    std::function<void(const MetricsRow&)> metrics;
    std::function<void(const EvaluationRow&)> evaluation;
};

/// Merges the values of a step from several rows. Programs write several rows per step, each with some of the
/// numbers, and rows of evaluations after those of training.
class StepMerger {
  public:
    StepMerger(const ExternalTable& table, const ImportColumns& columns, StepAnalysis& analysis)
        : table_(table), columns_(columns), analysis_(analysis) {}

    /// Passes the merged rows to `rows`, by ascending step. @returns the last step @throws Error (usage)
    /// naming an invalid value
    std::int64_t make(const ImportedRows& rows);

    /// Notes on the finished rows: values that were replaced, duplicated or not finite.
    std::vector<std::string> notes() const;

  private:
    struct MergedValues {
        StepValues values;
        std::optional<double> training_time, evaluation_time;  ///< seconds
    };
    struct Duplicates {
        std::size_t count = 0;
        std::int64_t first = 0;  ///< step of the first one
    };

    void process(const StepRow& row);
    void join(MergedValues& merged_values, const StepRow& row);
    void finishBefore(std::int64_t step);
    void finish(std::int64_t step, const MergedValues& merged_values);
    std::optional<EvaluationRow> evaluationOf(std::int64_t step, const MergedValues& merged_values) const;

    const ExternalTable& table_;
    const ImportColumns& columns_;
    StepAnalysis& analysis_;
    const ImportedRows* rows_ = nullptr;
    std::map<std::int64_t, MergedValues> open_;  ///< by step, of steps that may have more rows
    std::size_t number_ = 0, replaced_ = 0, without_loss_ = 0, made_count_ = 0;
    std::int64_t last_ = 0;
    std::array<Duplicates, kImportFieldCount> duplicates_{};
    Duplicates not_finite_;
};

}  // namespace roper
