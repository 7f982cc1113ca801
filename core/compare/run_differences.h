#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// A row of a table with one column per run, or group of runs.
struct RunsRow {
    std::string name;  ///< "training.batch"; for an outcome its title
    std::string unit;  ///< may be empty
    std::vector<std::string> values;

    /// "model.width (features)"
    std::string title() const { return unit.empty() ? name : name + " (" + unit + ")"; }
};

struct RunDifferences {
    std::vector<std::string> columns;  ///< names of the runs' folders, or labels of groups
    std::vector<std::string> titles;   ///< the same with displayed names of runs (`displayNames`)
    /// Settings that differ between columns or, except for seeds, within one, in the order of the
    /// specification, followed by the machine and the computation. "not used" means that a run does not read
    /// the setting; the description of a preset is omitted.
    std::vector<RunsRow> settings;
    /// Outcomes reached by at least one of the runs, "–" for the others.
    std::vector<RunsRow> outcomes;
};

enum class DifferencesBy {
    run,  ///< one column per run
    /// Runs that differ only in their seeds share a column, as in comparisons, with all their values of a
    /// setting, and the mean and range of their outcomes. A single group is shown one column per run.
    group,
};

/// @param runs  two or more; columns are in this order, those of groups in that of `groupRuns`
RunDifferences differencesOf(std::span<const RunRecord> runs, DifferencesBy by = DifferencesBy::run);

/// Settings and outcomes as one table in Markdown, for a note or a paper's appendix, with titles in the
/// header and folders in a row below.
std::string toMarkdown(const RunDifferences& differences);

}  // namespace roper
