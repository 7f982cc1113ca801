#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// A line of a table that has a column for each run, or each group of runs.
struct RunsRow {
    std::string name;  ///< "training.batch"; of an outcome its title
    std::string unit;  ///< may be empty
    std::vector<std::string> values;

    /// "model.width (features)"
    std::string title() const { return unit.empty() ? name : name + " (" + unit + ")"; }
};

struct RunDifferences {
    std::vector<std::string> columns;  ///< their names
    /// Settings that are not the same in all columns or, seeds aside, within one, in the order of the
    /// specification, then the machine and what computed them. "not used" stands where a run never reads a
    /// setting; what is only said about a preset is left out.
    std::vector<RunsRow> settings;
    /// What at least one of the runs reached, "–" where another has no such number.
    std::vector<RunsRow> outcomes;
};

enum class DifferencesBy {
    run,
    group,  ///< runs that differ in their seeds alone share a column, as comparisons count them: with the
            ///< settings that any of them has, the mean of what they reached and its range. Of one group, as
            ///< by run
};

/// @param runs  two or more; their columns stand in this order, those of groups in that of `groupRuns`
RunDifferences differencesOf(std::span<const RunRecord> runs, DifferencesBy by = DifferencesBy::run);

/// Both as one table in Markdown, for a note or a paper's appendix.
std::string markdownOf(const RunDifferences& differences);

}  // namespace roper
