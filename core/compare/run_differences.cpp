#include "core/compare/run_differences.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/text.h"
#include "core/compare/experiment.h"
#include "core/compare/paired.h"

namespace roper {
namespace {

constexpr double kSolvedFraction = 0.9;
constexpr auto kNotUsed = "not used";

/// A run, or the runs of a group.
struct RunColumn {
    std::string name, title;
    std::vector<const RunRecord*> runs;
};

std::vector<RunColumn> columnsOf(std::span<const RunRecord> runs, DifferencesBy by) {
    const std::vector<RunGroup> groups =
        by == DifferencesBy::group ? groupRuns(runs) : std::vector<RunGroup>();
    const std::vector<std::string> titles = displayNames(runs);
    std::vector<RunColumn> columns;
    if (groups.size() < 2) {  // for a single group, its runs are compared
        for (std::size_t i = 0; i < runs.size(); ++i)
            columns.push_back({runs[i].name, titles[i], {&runs[i]}});
        return columns;
    }
    for (const RunGroup& group : groups) {
        RunColumn& column = columns.emplace_back();
        const std::vector<std::size_t> counted = oneRunPerSeed(runs, group);
        column.runs = mapped(counted, [&](std::size_t index) { return &runs[index]; });
        const bool is_alone = counted.size() == 1;
        column.name = is_alone ? runs[counted.front()].name
                               : group.label + ", " + std::to_string(counted.size()) + " runs";
        column.title = is_alone ? titles[counted.front()] : column.name;
    }
    return columns;
}

/// Distinct values, numbers in ascending order; of many numbers only the first and the last.
std::string joinedValues(const std::set<std::string>& values) {
    constexpr std::size_t kMaxListed = 3;
    std::vector<std::string> all(values.begin(), values.end());
    const bool are_numbers =
        std::ranges::all_of(all, [](const auto& text) { return parseNumber(text).has_value(); });
    if (are_numbers)
        std::ranges::sort(all,
                          [](const auto& x, const auto& y) { return *parseNumber(x) < *parseNumber(y); });
    if (all.size() <= kMaxListed || !are_numbers) return join(all, "; ");
    return all.front() + " … " + all.back() + " (" + std::to_string(all.size()) + " values)";
}

/// Values by column.
using ColumnValues = std::vector<std::set<std::string>>;

template <class TextOf>
ColumnValues valuesOf(const std::vector<RunColumn>& columns, TextOf textOf) {
    ColumnValues values;
    for (const RunColumn& column : columns) {
        auto& of_column = values.emplace_back();
        for (const RunRecord* run : column.runs)
            of_column.insert(textOf(*run));
    }
    return values;
}

RunsRow rowOf(std::string name, std::string unit, const ColumnValues& values) {
    return {std::move(name), std::move(unit), mapped(values, joinedValues)};
}

/// Whether columns differ, or, except for seeds, the runs within one do.
bool differ(const ColumnValues& values, bool are_seeds) {
    const auto says_nothing = [](const std::set<std::string>& of_column) {
        return std::ranges::all_of(
            of_column, [](const std::string& text) { return text == kNotUsed || text == kMissingValue; });
    };
    if (std::ranges::all_of(values, says_nothing)) return false;
    const auto has_several = [](const std::set<std::string>& of_column) { return of_column.size() > 1; };
    return std::ranges::adjacent_find(values, std::not_equal_to<>()) != values.end() ||
           (!are_seeds && std::ranges::any_of(values, has_several));
}

/// "96 of 128"; for several runs their mean with minimum and maximum, and the number of runs with a value.
std::string outcomeText(const RunColumn& column, Measure measure) {
    std::vector<double> values;
    std::size_t not_reached = 0;
    std::string of_problems;
    for (const RunRecord* run : column.runs) {
        const OutcomeValue outcome = outcomeOf(*run, measure, kSolvedFraction);
        if (outcome.kind == Outcome::not_reached) ++not_reached;
        if (outcome.kind != Outcome::known) continue;
        values.push_back(outcome.value);
        if (infoOf(measure).unit == "problems" && run->evaluations.back().total)
            of_problems = " of " + std::to_string(*run->evaluations.back().total);
    }
    std::vector<std::string> parts;
    if (!values.empty()) {
        const double sum = std::accumulate(values.begin(), values.end(), 0.0);
        parts.push_back(formatRounded(sum / static_cast<double>(values.size()), 5) + of_problems);
        std::vector<std::string> details;
        const auto [minimum, maximum] = std::ranges::minmax_element(values);
        if (*minimum < *maximum)
            details.push_back(formatRounded(*minimum, 5) + " to " + formatRounded(*maximum, 5));
        if (values.size() < column.runs.size())
            details.push_back(std::to_string(values.size()) + " of " + countOf(column.runs.size(), "run"));
        if (!details.empty()) parts.back() += " (" + join(details, ", ") + ")";
    }
    if (not_reached > 0)
        parts.push_back("not reached" +
                        (column.runs.size() > 1 ? " in " + std::to_string(not_reached) : std::string()));
    return parts.empty() ? kMissingValue : join(parts, ", ");
}

std::string stepText(const RunRecord& run) {
    const std::int64_t step = run.metrics.empty() ? 0 : run.metrics.back().step;
    return std::to_string(step) + " of " + std::to_string(run.specification.training.steps);
}

/// The computations of each column's runs: the name and values of each known property.
std::vector<std::pair<std::string, ColumnValues>> computedBy(const std::vector<RunColumn>& columns) {
    std::vector<std::pair<std::string, ColumnValues>> rows;
    for (const auto& field : fieldsOf(std::vector<ComputeEnvironment>{})) {
        const std::string& name = field.first;
        rows.emplace_back(name, valuesOf(columns, [&](const RunRecord& run) {
                              for (const auto& [own, values] : fieldsOf(run.computations))
                                  // several if a run was resumed elsewhere
                                  if (own == name && !values.empty())
                                      return join({values.begin(), values.end()}, "; ");
                              return std::string(kMissingValue);
                          }));
    }
    return rows;
}

}  // namespace

RunDifferences differencesOf(std::span<const RunRecord> runs, DifferencesBy by) {
    const std::vector<RunColumn> columns = columnsOf(runs, by);
    RunDifferences differences{.columns = mapped(columns, &RunColumn::name),
                               .titles = mapped(columns, &RunColumn::title),
                               .settings = {},
                               .outcomes = {}};
    for (const SpecificationField& field : specificationFields()) {
        if (field.section == "about") continue;
        const ColumnValues values = valuesOf(columns, [&](const RunRecord& run) {
            if (field.key() == "model.position") return run.specification.methodName();
            if (!isKnown(field, run.specification)) return std::string(kMissingValue);
            return unusedReason(field, run.specification) ? std::string(kNotUsed)
                                                          : field.text(run.specification);
        });
        if (differ(values, field.name == "data_seed" || field.name == "model_seed"))
            differences.settings.push_back(rowOf(field.key(), field.unit, values));
    }
    std::vector<std::pair<std::string, ColumnValues>> computed = computedBy(columns);
    computed.emplace(computed.begin(), "machine",
                     valuesOf(columns, [](const RunRecord& run) { return run.host; }));
    for (const auto& [name, values] : computed)
        if (differ(values, false)) differences.settings.push_back(rowOf(name, "", values));

    differences.outcomes.push_back(
        rowOf("state", "", valuesOf(columns, [](const RunRecord& run) { return stateName(run.state); })));
    differences.outcomes.push_back(rowOf("step", "", valuesOf(columns, stepText)));
    for (const MeasureInfo& info : measures()) {
        // Titles of counts already contain the unit.
        const bool is_counted = info.unit == "problems" || info.unit == "steps";
        RunsRow row{
            titleOf(info.measure, kSolvedFraction), is_counted ? "" : info.unit,
            mapped(columns, [&](const RunColumn& column) { return outcomeText(column, info.measure); })};
        const bool any =
            std::ranges::any_of(row.values, [](const std::string& value) { return value != kMissingValue; });
        if (any) differences.outcomes.push_back(std::move(row));
    }
    return differences;
}

std::string toMarkdown(const RunDifferences& differences) {
    // The cell above the names of rows is empty.
    std::string text = "| " + markdownRow(differences.titles) + markdownRule(differences.titles.size() + 1);
    if (differences.titles != differences.columns) {
        std::vector<std::string> cells{"folder"};
        for (std::size_t i = 0; i < differences.columns.size(); ++i) {
            const std::string& column = differences.columns[i];
            cells.push_back(column == differences.titles[i] ? kMissingValue : column);
        }
        text += markdownRow(cells);
    }
    for (const auto* rows : {&differences.settings, &differences.outcomes}) {
        for (const RunsRow& row : *rows) {
            std::vector<std::string> cells{row.title()};
            cells.insert(cells.end(), row.values.begin(), row.values.end());
            text += markdownRow(cells);
        }
    }
    return text;
}

}  // namespace roper
