#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome.h"
#include "core/runs/rows.h"

namespace roper {

/// A run with results of its newest measured checkpoint on problems and texts of other lengths.
struct MeasuredRun {
    RunRecord record;
    // Rows of one step, possibly with several scalings of the frequencies:
    std::vector<SizeRow> sizes = {};
    std::vector<LengthRow> lengths = {};
    std::vector<PositionRow> positions = {};
};

/// The rows of a run's newest step.
template <class Row>
std::vector<Row> newestRows(const std::vector<Row>& rows) {
    std::int64_t newest = 0;
    for (const Row& row : rows)
        newest = std::max(newest, row.step);
    std::vector<Row> kept;
    for (const Row& row : rows)
        if (row.step == newest) kept.push_back(row);
    return kept;
}

/// Length of a problem: the digits of the longer operand, or the letters of the string. Empty for tasks
/// without problems.
std::optional<std::int64_t> problemLength(const std::string& task, ProblemSize size);
/// The longest problem in training, or the length in tokens of a text's sequences; empty for other tasks.
std::optional<std::int64_t> trainedLength(const Specification& specification);

/// A metric by the length on which it was measured and by training length, for each method.
struct LengthMap {
    enum class Metric {
        solved,          ///< fraction of problems, by their length
        token_accuracy,  ///< token accuracy on a text, by sequence length
        loss,  ///< nats per token, by position p in bins: 2^(k−1) ≤ p < 2^k has the "length" 2^k
    };
    /// A mean over problems, tokens or positions.
    struct Cell {
        double sum = 0;          ///< number solved or predicted, or the sum of losses
        std::int64_t total = 0;  ///< number of problems, tokens or positions
        int runs = 0;

        double mean() const { return sum / static_cast<double>(total); }
    };
    struct Panel {
        std::string label;     ///< the method, and the scaling of frequencies
        std::string position;  ///< `model.position` of the specification
        std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;  ///< by (trained, length)
    };
    Metric metric = Metric::solved;
    std::string task;
    std::vector<std::int64_t> trained, lengths;  ///< ascending
    std::vector<Panel> panels;
    int left_out = 0;  ///< number of measured runs omitted: repeated seeds, or another precision
};

/// One map per task and objective: problems solved, or token accuracy on a text. Runs that differ only in
/// their seeds, the longest problem in training, and the length of their sequences form one panel; in it,
/// runs with the same training length are pooled, each seed once (`oneRunPerSeed`).
std::vector<LengthMap> lengthMaps(const std::vector<MeasuredRun>& runs);

/// Loss by position, grouped likewise: one map per task and objective with such rows.
std::vector<LengthMap> positionMaps(const std::vector<MeasuredRun>& runs);

/// CSV: task,shows (the metric),method,trained,length,mean,of,runs
std::string toCsv(const std::vector<LengthMap>& maps);

}  // namespace roper
