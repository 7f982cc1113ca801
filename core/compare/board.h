#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/curves.h"
#include "core/compare/paired.h"
#include "core/runs/speeds.h"
#include "core/specification/presets.h"

namespace roper {

/// A row of the table in the RoPER note (Harik & Jayasiri 2022): for each method, the mean of ten runs
/// without the worst.
struct BoardTarget {
    std::string preset;
    std::string title;
    double rope = 0, roper = 0;  ///< problems solved, or the loss in nats
    /// Values of RoPE and RoPER in another archived copy of the note, which differs in the third row.
    std::optional<std::pair<double, double>> alternative_values;
    int runs = 10;  ///< per method
};
const std::vector<BoardTarget>& boardTargets();

/// One method of a row, with its current runs.
struct BoardCell {
    std::string position;                      ///< "rope" or "roper"
    double target = 0;                         ///< the note's value
    std::optional<double> alternative_target;  ///< that of the other copy
    // Indices of records, by ascending seed:
    std::vector<std::size_t> finished;
    std::vector<std::size_t> failed;      ///< ended without an outcome; they are not trained again
    std::vector<std::size_t> unfinished;  ///< queued, running or stopped
    std::vector<std::int64_t> missing;    ///< seeds without a record
    /// Mean of the finished runs; without the worst once all are finished, as in the note.
    std::optional<double> mean;
    std::optional<double> seconds_per_step;   ///< measured on this machine
    std::optional<double> remaining_seconds;  ///< for all unfinished runs; empty if not measured
};

struct BoardRow {
    BoardTarget target;
    Specification specification;  ///< that of the preset
    Measure measure = Measure::final_correct;
    std::vector<BoardCell> cells;  ///< RoPE, RoPER
};

/// The RoPER note's table with the results of the runs so far. Only runs that match the preset in everything
/// except their seeds count; seeds 0 … 9 are required.
/// @param speeds  measured on this machine
std::vector<BoardRow> makeBoard(std::span<const RunRecord> runs, const Speeds& speeds);

/// Specifications of the missing runs, row by row, with twins next to each other.
std::vector<Specification> missingRuns(const BoardRow& row);
std::vector<Specification> missingRuns(const std::vector<BoardRow>& board);

/// Seconds for all unfinished runs, trained one after another; empty if a speed is not measured.
std::optional<double> remainingSeconds(const std::vector<BoardRow>& board);

}  // namespace roper
