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

/// A run with what its newest measured checkpoint makes of problems and texts of other lengths.
struct MeasuredRun {
    RunRecord record;
    std::vector<SizeRow> sizes = {};          ///< of one step; several scalings are possible
    std::vector<LengthRow> lengths = {};      ///< the same
    std::vector<PositionRow> positions = {};  ///< the same
};

/// The rows of the newest step among those of a run.
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

/// What a problem's length is: the digits of the longer operand, or the letters of the string. Nothing for
/// tasks without problems.
std::optional<std::int64_t> problemLength(const std::string& task, ProblemSize size);
/// The longest problem of a run's training, or the tokens of its sequences of a text; nothing for other
/// tasks.
std::optional<std::int64_t> trainedLength(const Specification& specification);

/// Something by length and by the length of training, for each method.
struct LengthMap {
    enum class Shows {
        solved,          ///< share of problems, by their length
        token_accuracy,  ///< token accuracy on a text, by the length of the sequences
        loss,  ///< nats per token, by its position; positions p are binned: 2^(k−1) ≤ p < 2^k, named 2^k
    };
    /// A mean: of ones and zeros for shares, of losses otherwise.
    struct Cell {
        double sum = 0;
        std::int64_t of = 0;
        int runs = 0;

        double mean() const { return sum / static_cast<double>(of); }
    };
    struct Panel {
        std::string label;     ///< the method, and how frequencies were scaled
        std::string position;  ///< of the specification
        std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;  ///< by (trained, length)
    };
    Shows shows = Shows::solved;
    std::string task;
    std::vector<std::int64_t> trained, lengths;  ///< ascending
    std::vector<Panel> panels;
    int left_out = 0;  ///< measured runs that do not count: their seed again, or another precision
};

/// One map a task and objective: problems solved, or token accuracy on a text. Runs that differ in their
/// seeds, in the longest problem of training, and in the length of their sequences belong to one panel; of
/// these, runs trained on the same length are added up, each seed once (`runsThatCount`).
std::vector<LengthMap> lengthMaps(const std::vector<MeasuredRun>& runs);

/// The loss by position, in the same way: one map a task and objective that has such rows.
std::vector<LengthMap> positionMaps(const std::vector<MeasuredRun>& runs);

/// task,shows,method,trained,length,mean,of,runs
std::string csvOf(const std::vector<LengthMap>& maps);

}  // namespace roper
