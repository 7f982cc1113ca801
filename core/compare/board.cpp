#include "core/compare/board.h"

#include "core/base/text.h"
#include "core/compare/expected_time.h"

namespace roper {
namespace {

BoardCell makeCell(std::span<const RunRecord> runs, const Specification& specification,
                   const BoardTarget& target, Measure measure, const StepTimes& times) {
    BoardCell cell;
    cell.position = specification.model.position;
    const bool is_rope = cell.position == twinMethods().front();
    cell.target = is_rope ? target.rope : target.roper;
    if (target.alternative_values)
        cell.alternative_target =
            is_rope ? target.alternative_values->first : target.alternative_values->second;
    const std::string key = groupKey(specification);
    double steps_left = 0;
    for (std::int64_t seed = 0; seed < target.runs; ++seed) {
        std::optional<std::size_t> found;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (seedsOf(runs[i].specification) != RunSeeds{seed, seed}) continue;
            if (groupKey(runs[i].specification) != key) continue;
            if (!found || runs[i].state == RunState::finished || runs[*found].state == RunState::failed)
                found = i;
        }
        if (!found) {
            cell.missing.push_back(seed);
            steps_left += static_cast<double>(specification.training.steps);
        } else if (runs[*found].state == RunState::finished) {
            cell.finished.push_back(*found);
        } else if (runs[*found].state == RunState::failed) {
            cell.failed.push_back(*found);
        } else {
            cell.unfinished.push_back(*found);
            const auto& rows = runs[*found].metrics;
            steps_left +=
                static_cast<double>(specification.training.steps - (rows.empty() ? 0 : rows.back().step));
        }
    }
    std::vector<std::size_t> done = cell.finished;
    done.insert(done.end(), cell.failed.begin(), cell.failed.end());
    if (static_cast<int>(done.size()) == target.runs) done = withoutWorst(runs, done, measure, 0.9);
    const std::vector<double> values = knownOutcomes(runs, done, measure);
    if (!values.empty()) cell.mean = summarize(values).mean;
    cell.seconds_per_step = times.secondsPerStep(specification);
    if (cell.seconds_per_step) cell.remaining_seconds = *cell.seconds_per_step * steps_left;
    return cell;
}

}  // namespace

const std::vector<BoardTarget>& boardTargets() {
    static const std::vector<BoardTarget> targets = {
        {"addition-paper", "Addition, of 128", 124.33, 126.33, {}},
        {"index-paper", "Substring by index, of 128", 62.00, 96.11, {}},
        {"prefix-paper", "Substring by prefix, loss", 0.3269, 0.3191, {{0.3329, 0.3205}}},
    };
    return targets;
}

std::vector<BoardRow> makeBoard(std::span<const RunRecord> runs, const Speeds& speeds) {
    const StepTimes times(runs, speeds);
    std::vector<BoardRow> rows;
    for (const BoardTarget& target : boardTargets()) {
        BoardRow row{target, loadPreset(target.preset).specification, Measure::final_correct, {}};
        row.measure = defaultMeasure(row.specification);
        for (const std::string& position : twinMethods()) {
            const Specification specification = withPosition(row.specification, position);
            row.cells.push_back(makeCell(runs, specification, target, row.measure, times));
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<Specification> missingRuns(const BoardRow& row) {
    std::vector<Specification> missing;
    for (std::int64_t seed = 0; seed < row.target.runs; ++seed) {
        for (const BoardCell& cell : row.cells) {
            if (!hasElement(cell.missing, seed)) continue;
            Specification specification = withPosition(row.specification, cell.position);
            specification.training.data_seed = specification.training.model_seed = seed;
            missing.push_back(specification);
        }
    }
    return missing;
}

std::vector<Specification> missingRuns(const std::vector<BoardRow>& board) {
    return concatenated(mapped(board, [](const BoardRow& row) { return missingRuns(row); }));
}

std::optional<double> remainingSeconds(const std::vector<BoardRow>& board) {
    double left = 0;
    for (const BoardRow& row : board) {
        for (const BoardCell& cell : row.cells) {
            if (!cell.remaining_seconds) return std::nullopt;
            left += *cell.remaining_seconds;
        }
    }
    return left;
}

}  // namespace roper
