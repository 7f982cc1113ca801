#include "core/compare/method_table.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Records by the title of their preset, sorted by title.
std::map<std::string, std::vector<RunRecord>> byPreset(std::span<const RunRecord> runs) {
    std::map<std::string, std::vector<RunRecord>> presets;
    for (const RunRecord& run : runs)
        presets[run.specification.about.title].push_back(run);
    return presets;
}

MethodCell cellOf(std::span<const RunRecord> runs, const RunGroup& group, const MethodColumn& column) {
    MethodCell cell;
    std::vector<double> values;
    for (const std::size_t run : oneRunPerSeed(runs, group)) {
        const OutcomeValue outcome = outcomeOf(runs[run], column.measure, column.solved_fraction);
        if (outcome.kind == Outcome::known) values.push_back(outcome.value);
        cell.not_reached += outcome.kind == Outcome::not_reached ? 1 : 0;
    }
    cell.runs = summarize(values);
    return cell;
}

/// Corrects the p-values of a column for the number of compared methods.
void correct(MethodColumn& column) {
    std::vector<OutcomeRow*> tested;
    std::vector<double> p;
    for (auto& cell : column.cells) {
        if (!cell || !cell->versus_reference || !cell->versus_reference->p) continue;
        tested.push_back(&*cell->versus_reference);
        p.push_back(*cell->versus_reference->p);
    }
    const std::vector<double> corrected = holmCorrected(p);
    for (std::size_t i = 0; i < tested.size(); ++i)
        tested[i]->holm_p = corrected[i];
}

std::string meanText(const MethodCell& cell) {
    std::string text = cell.runs.count > 0 ? formatRounded(cell.runs.mean, 4) : kMissingValue;
    if (cell.runs.count > 1) text += " ± " + formatRounded(cell.runs.standard_deviation, 2);
    if (cell.not_reached > 0) text += " (" + std::to_string(cell.not_reached) + " never)";
    return text;
}

std::string versusReferenceText(const MethodCell& cell) {
    if (!cell.versus_reference) return kMissingValue;
    const OutcomeCells cells = formatCells(*cell.versus_reference);
    std::string text = cells.difference;
    if (cells.interval != kMissingValue) text += " (" + cells.interval + ")";
    text += ", n = " + std::to_string(cell.versus_reference->difference.count);
    if (cells.holm_p != kMissingValue)
        text += ", p = " + cells.holm_p + (cell.versus_reference->is_sign_test ? " (sign test)" : "");
    return text;
}

}  // namespace

MethodTable methodTable(std::span<const RunRecord> runs, const std::string& reference,
                        std::optional<Measure> measure, double solved_fraction) {
    MethodTable table{reference, {reference}, {}};
    const auto presets = byPreset(runs);
    std::map<std::string, std::vector<RunGroup>> groups;
    std::set<std::string> labels;
    for (const auto& [preset, records] : presets) {
        groups[preset] = groupRuns(records);
        for (const RunGroup& group : groups[preset])
            labels.insert(group.label);
    }
    labels.erase(reference);
    table.methods.insert(table.methods.end(), labels.begin(), labels.end());
    for (const auto& [preset, records] : presets) {
        const std::vector<RunGroup>& here = groups[preset];
        const auto find = [&here](const std::string& label) {
            const auto found = std::ranges::find(here, label, &RunGroup::label);
            return found == here.end() ? nullptr : &*found;
        };
        const RunGroup* const first = find(reference);
        if (first == nullptr)
            throw Error(ErrorKind::usage,
                        "in \"" + preset + "\" no group of runs matches \"" + reference +
                            "\"; the groups are: " + join(mapped(here, &RunGroup::label), "; ") +
                            ". Choose runs with --filter, the reference with --a.");
        MethodColumn column;
        column.preset = preset;
        column.solved_fraction = solved_fraction;
        column.measure = measure.value_or(
            preregisteredMeasure(records, *first, *first).value_or(defaultMeasure(first->specification)));
        column.title = comparePaired(records, *first, *first, column.measure, solved_fraction).title();
        for (const std::string& method : table.methods) {
            const RunGroup* const group = find(method);
            column.cells.emplace_back();
            if (group == nullptr) continue;
            column.cells.back() = cellOf(records, *group, column);
            if (group == first) continue;
            OutcomeRow row =
                makeOutcomeRow(comparePaired(records, *first, *group, column.measure, solved_fraction));
            row.comparison.other_differences.clear();  // other differences of a method are part of its label
            column.cells.back()->versus_reference = std::move(row);
        }
        correct(column);
        table.columns.push_back(std::move(column));
    }
    return table;
}

std::vector<std::vector<std::string>> tableRows(const MethodTable& table) {
    std::vector<std::vector<std::string>> lines{{"method"}};
    for (const MethodColumn& column : table.columns) {
        lines.front().push_back(column.preset + ": " + column.title);
        lines.front().push_back("against " + table.reference);
    }
    for (std::size_t row = 0; row < table.methods.size(); ++row) {
        lines.push_back({table.methods[row]});
        for (const MethodColumn& column : table.columns) {
            const auto& cell = column.cells[row];
            lines.back().push_back(cell ? meanText(*cell) : kMissingValue);
            lines.back().push_back(cell ? versusReferenceText(*cell) : kMissingValue);
        }
    }
    return lines;
}

std::string toMarkdown(const MethodTable& table) {
    const auto lines = tableRows(table);
    std::string text = markdownRow(lines.front()) + markdownRule(lines.front().size());
    for (std::size_t i = 1; i < lines.size(); ++i)
        text += markdownRow(lines[i]);
    return text;
}

std::string toCsv(const MethodTable& table) {
    std::string csv =
        "preset,measure,share,method,runs,mean,deviation,least,greatest,never,pairs,difference,low,high,test,"
        "p,holm_p\n";
    for (const MethodColumn& column : table.columns)
        for (std::size_t row = 0; row < table.methods.size(); ++row) {
            const auto& cell = column.cells[row];
            if (!cell) continue;
            const Summary& runs = cell->runs;
            const auto& versus = cell->versus_reference;
            const PairedTest* const test = versus ? versus->tTest() : nullptr;
            csv += csvLine(
                {quoteCsvCell(column.preset), infoOf(column.measure).name,
                 column.measure == Measure::steps_until ? formatNumber(column.solved_fraction) : "",
                 quoteCsvCell(table.methods[row]), std::to_string(runs.count), csvNumber(runs.mean),
                 csvNumber(runs.standard_deviation), csvNumber(runs.minimum), csvNumber(runs.maximum),
                 std::to_string(cell->not_reached), versus ? std::to_string(versus->difference.count) : "",
                 versus ? csvNumber(versus->difference.mean) : "", test ? csvNumber(test->interval.low) : "",
                 test ? csvNumber(test->interval.high) : "",
                 !versus                ? ""
                 : versus->is_sign_test ? "sign"
                                        : "paired t",
                 versus ? csvNumber(versus->p) : "", versus ? csvNumber(versus->holm_p) : ""});
        }
    return csv;
}

}  // namespace roper
