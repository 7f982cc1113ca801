#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome_table.h"

namespace roper {

/// Results of one method's runs of one preset, compared with the reference.
struct MethodCell {
    Summary runs;         ///< of its runs with known outcome
    int not_reached = 0;  ///< number of its runs that ended without reaching the target
    /// Comparison over common seeds; `holm_p` is corrected for the number of methods in the column. Empty for
    /// the reference itself.
    std::optional<OutcomeRow> versus_reference;
};

/// Runs of one preset: a column of the table.
struct MethodColumn {
    std::string preset;  ///< its title
    Measure measure = Measure::final_correct;
    double solved_fraction = 0.9;                  ///< fraction of problems solved, for `steps_until`
    std::string title;                             ///< of the measure: "problems solved at the end, of 128"
    std::vector<std::optional<MethodCell>> cells;  ///< one per method; empty if it was not trained
};

/// All methods compared with one of them, preset by preset.
struct MethodTable {
    std::string reference;             ///< label of the method with which all others are compared
    std::vector<std::string> methods;  ///< the reference first, then by label
    std::vector<MethodColumn> columns;
};

/// @param reference  label of a group in every preset, such as "RoPE"
/// @param measure    measure to compare; default: the one named by each preset, else `defaultMeasure`
/// @throws Error (usage) if a preset has no such group, naming those that it has
MethodTable methodTable(std::span<const RunRecord> runs, const std::string& reference,
                        std::optional<Measure> measure = {}, double solved_fraction = 0.9);

/// Rows of cells, beginning with the header: for each preset the mean with its standard deviation over seeds,
/// and the difference from the reference with its 95 % interval and Holm's corrected p.
std::vector<std::vector<std::string>> tableRows(const MethodTable& table);

/// `tableRows` as a table in Markdown.
std::string toMarkdown(const MethodTable& table);

/// CSV with a header and one line per preset and method.
std::string toCsv(const MethodTable& table);

}  // namespace roper
