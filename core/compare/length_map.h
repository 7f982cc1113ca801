#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome.h"
#include "core/runs/csv.h"

namespace roper {

/// A run with what its newest measured checkpoint solves by size.
struct SizedRun {
    RunRecord record;
    std::vector<SizeRow> rows;  ///< of one step; several scalings are possible
};

/// The rows of the newest step among those of a run.
std::vector<SizeRow> newestSizes(const std::vector<SizeRow>& rows);

/// What a problem's length is: the digits of the longer operand, or the letters of the string. Nothing for
/// tasks without problems.
std::optional<std::int64_t> problemLength(const std::string& task, ProblemSize size);
/// The longest problem of a run's training; nothing for tasks without problems.
std::optional<std::int64_t> trainedLength(const Specification& specification);

/// Share of problems solved, by their length and by the longest problem of training, for each method.
struct LengthMap {
    struct Cell {
        std::int64_t correct = 0, of = 0;
        int runs = 0;

        double share() const { return static_cast<double>(correct) / static_cast<double>(of); }
    };
    struct Panel {
        std::string label;     ///< the method, and how frequencies were scaled
        std::string position;  ///< of the specification
        std::map<std::pair<std::int64_t, std::int64_t>, Cell> cells;  ///< by (trained, length)
    };
    std::string task;
    std::vector<std::int64_t> trained, lengths;  ///< ascending
    std::vector<Panel> panels;
};

/// One map a task. Runs that differ in their seeds, in the longest problem of training, and in the length of
/// their sequences belong to one panel; of these, runs trained on the same longest problem are added up.
std::vector<LengthMap> lengthMaps(const std::vector<SizedRun>& runs);

/// method,trained,length,correct,of,runs with a column for the task in front.
std::string csvOf(const std::vector<LengthMap>& maps);

}  // namespace roper
