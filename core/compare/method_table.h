#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/compare/outcome_table.h"

namespace roper {

/// What one method's runs of one preset came to, beside those of the reference.
struct MethodCell {
    Summary runs;   ///< of its runs whose outcome is known
    int never = 0;  ///< of its runs, those that ended without getting there
    /// Over the seeds that both have; p by Holm is corrected for the number of methods in the column. Nothing
    /// for the reference itself.
    std::optional<OutcomeRow> against;
};

/// Runs of one preset: a column of the table.
struct MethodColumn {
    std::string preset;  ///< its title
    Measure measure = Measure::final_correct;
    double share = 0.9;                            ///< of problems solved, for `steps_until`
    std::string title;                             ///< of the measure: "problems solved at the end, of 128"
    std::vector<std::optional<MethodCell>> cells;  ///< by method; nothing where none was trained
};

/// Every method beside one of them, preset by preset.
struct MethodTable {
    std::string reference;
    std::vector<std::string> methods;  ///< the reference first, then by label
    std::vector<MethodColumn> columns;
};

/// @param reference  label of a group in every preset, such as "RoPE"
/// @param measure    what is compared; if none is given, what each preset names, else `defaultMeasure`
/// @throws Error (usage) where a preset has no such group, naming those that it has
MethodTable methodTable(std::span<const RunRecord> runs, const std::string& reference,
                        std::optional<Measure> measure = {}, double share = 0.9);

/// Lines of cells, the first one the heads: of each preset the mean with its standard deviation over seeds,
/// and the difference from the reference with its interval and p by Holm.
std::vector<std::vector<std::string>> linesOf(const MethodTable& table);

/// The same as a table in Markdown.
std::string markdownOf(const MethodTable& table);

/// A line for each preset and method, with a header line.
std::string csvOf(const MethodTable& table);

}  // namespace roper
