#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/compare/outcome.h"

namespace roper {

/// A line of a table that has a column for each run.
struct RunsRow {
    std::string name;  ///< "training.batch"; of an outcome its title
    std::string unit;  ///< may be empty
    std::vector<std::string> values;

    /// "model.width (features)"
    std::string title() const { return unit.empty() ? name : name + " (" + unit + ")"; }
};

struct RunDifferences {
    /// Settings that are not the same in all runs, in the order of the specification, then the machine and
    /// what computed them. "not used" stands where a run never reads a setting; what is only said about a
    /// preset is left out.
    std::vector<RunsRow> settings;
    /// What at least one of the runs reached, "–" where another has no such number.
    std::vector<RunsRow> outcomes;
};

/// @param runs  two or more, whose columns stand in this order
RunDifferences differencesOf(std::span<const RunRecord> runs);

/// Both as one table in Markdown, for a note or a paper's appendix.
std::string markdownOf(std::span<const RunRecord> runs, const RunDifferences& differences);

}  // namespace roper
