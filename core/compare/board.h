#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/curves.h"
#include "core/compare/paired.h"
#include "core/runs/speeds.h"
#include "core/specification/presets.h"

namespace roper {

/// A row of the RoPER note's table (Harik & Jayasiri 2022): ten runs per method, the worst dropped, mean of
/// nine.
struct BoardTarget {
    std::string preset;
    std::string title;
    double rope = 0, roper = 0;
    /// Another stored copy of the note prints other numbers for the third row.
    std::optional<std::pair<double, double>> other_print;
    int runs = 10;  ///< a method
};
const std::vector<BoardTarget>& boardTargets();

/// One method of a row, as far as the runs go.
struct BoardCell {
    std::string position;  ///< "rope" or "roper"
    double target = 0;
    std::optional<double> other_target;
    std::vector<std::size_t> finished;    ///< records, by rising seed
    std::vector<std::size_t> failed;      ///< records that ended without an outcome; not trained again
    std::vector<std::size_t> unfinished;  ///< records that are queued, running or stopped
    std::vector<std::int64_t> missing;    ///< seeds that no record has
    /// Of the finished runs; the worst dropped once all are done, as in the note.
    std::optional<double> mean;
    std::optional<double> seconds_a_step;  ///< measured on this machine
    std::optional<double> seconds_left;    ///< for everything that is not finished; nothing if not measured
};

struct BoardRow {
    BoardTarget target;
    Specification specification;  ///< of the preset
    Measure measure = Measure::final_correct;
    std::vector<BoardCell> cells;  ///< RoPE, RoPER
};

/// The RoPER note's table with what the runs give so far. Only runs that agree with the preset in everything
/// but their seeds count; seeds 0 … 9 are wanted.
/// @param speeds  measured on this machine
std::vector<BoardRow> makeBoard(std::span<const RunRecord> runs, const Speeds& speeds);

/// Specifications of what is missing, row by row, twins side by side.
std::vector<Specification> missingRuns(const BoardRow& row);
std::vector<Specification> missingRuns(const std::vector<BoardRow>& board);

/// Seconds for everything that is not finished, one run after the other; nothing if a speed is not measured.
std::optional<double> secondsLeft(const std::vector<BoardRow>& board);

}  // namespace roper
