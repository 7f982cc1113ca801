#include "core/compare/run_differences.h"

#include <algorithm>
#include <functional>

#include "core/base/text.h"
#include "core/compare/grouping.h"

namespace roper {
namespace {

constexpr double kShareSolved = 0.9;
constexpr auto kNotUsed = "not used";
constexpr auto kNone = "–";

bool allAreTheSame(const std::vector<std::string>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

/// A run, or those of a group.
struct RunColumn {
    std::string name;
    std::vector<const RunRecord*> runs;
};

std::vector<RunColumn> columnsOf(std::span<const RunRecord> runs, DifferencesBy by) {
    std::vector<RunColumn> columns;
    if (by == DifferencesBy::run) {
        for (const RunRecord& run : runs)
            columns.push_back({run.name, {&run}});
        return columns;
    }
    for (const RunGroup& group : groupRuns(runs)) {
        RunColumn& column = columns.emplace_back();
        for (const std::size_t place : group.runs)
            column.runs.push_back(&runs[place]);
        const bool is_alone = column.runs.size() == 1;
        column.name = is_alone ? column.runs.front()->name
                               : group.label + ", " + std::to_string(column.runs.size()) + " runs";
    }
    return columns;
}

/// Each value once; of many seeds the first and the last.
std::string joinedValues(const std::vector<std::string>& values) {
    constexpr std::size_t kMostListed = 3;
    std::vector<std::string> distinct;
    for (const std::string& value : values)
        if (std::find(distinct.begin(), distinct.end(), value) == distinct.end()) distinct.push_back(value);
    if (distinct.size() <= kMostListed) return join(distinct, "; ");
    return distinct.front() + " … " + distinct.back() + " (" + std::to_string(distinct.size()) + " values)";
}

/// "96 of 128"; of several runs their mean, with the least and the greatest.
std::string valueText(const RunColumn& column, Measure measure, const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values)
        sum += value;
    std::string text = formatRounded(sum / static_cast<double>(values.size()), 5);
    const RunRecord& run = *column.runs.front();
    const bool counts_problems = infoOf(measure).unit == "problems";
    if (counts_problems && !run.evaluations.empty() && run.evaluations.back().of)
        text += " of " + std::to_string(*run.evaluations.back().of);
    const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
    if (*least < *greatest)
        text += " (" + formatRounded(*least, 5) + " to " + formatRounded(*greatest, 5) + ")";
    return text;
}

std::string outcomeText(const RunColumn& column, Measure measure) {
    std::vector<double> values;
    std::size_t never = 0;
    for (const RunRecord* run : column.runs) {
        const OutcomeValue outcome = outcomeOf(*run, measure, kShareSolved);
        if (outcome.kind == Outcome::known) values.push_back(outcome.value);
        if (outcome.kind == Outcome::never) ++never;
    }
    std::vector<std::string> parts;
    if (!values.empty()) parts.push_back(valueText(column, measure, values));
    const std::string in_how_many = column.runs.size() > 1 ? " in " + std::to_string(never) : "";
    if (never > 0) parts.push_back("not reached" + in_how_many);
    return parts.empty() ? kNone : join(parts, ", ");
}

std::string stepText(const RunRecord& run) {
    const std::int64_t step = run.metrics.empty() ? 0 : run.metrics.back().step;
    return std::to_string(step) + " of " + std::to_string(run.specification.training.steps);
}

template <class TextOf>
RunsRow rowOf(const std::vector<RunColumn>& columns, std::string name, std::string unit, TextOf textOf) {
    RunsRow row{std::move(name), std::move(unit), {}};
    for (const RunColumn& column : columns) {
        std::vector<std::string> texts;
        for (const RunRecord* run : column.runs)
            texts.push_back(textOf(*run));
        row.values.push_back(joinedValues(texts));
    }
    return row;
}

/// What computed each column's runs, a row for each thing that is known of it.
std::vector<RunsRow> computationRows(const std::vector<RunColumn>& columns) {
    std::vector<RunsRow> rows;
    for (const auto& [name, values] : fieldsOf(std::vector<Computation>{})) {
        rows.push_back(rowOf(columns, name, "", [&](const RunRecord& run) {
            for (const auto& [field, of_run] : fieldsOf(run.computations))
                if (field == name && !of_run.empty())  // of a run resumed elsewhere several
                    return join({of_run.begin(), of_run.end()}, "; ");
            return std::string(kNone);
        }));
    }
    return rows;
}

}  // namespace

RunDifferences differencesOf(std::span<const RunRecord> runs, DifferencesBy by) {
    const std::vector<RunColumn> columns = columnsOf(runs, by);
    RunDifferences differences;
    for (const RunColumn& column : columns)
        differences.columns.push_back(column.name);
    const auto keep_if_different = [&](RunsRow row) {
        if (!allAreTheSame(row.values)) differences.settings.push_back(std::move(row));
    };
    for (const SpecificationField& field : specificationFields()) {
        if (field.section == "about") continue;
        keep_if_different(rowOf(columns, field.key(), field.unit, [&](const RunRecord& run) {
            return whyUnused(field, run.specification) ? kNotUsed : field.text(run.specification);
        }));
    }
    keep_if_different(rowOf(columns, "machine", "", [](const RunRecord& run) { return run.host; }));
    for (RunsRow& row : computationRows(columns))
        keep_if_different(std::move(row));

    differences.outcomes.push_back(
        rowOf(columns, "state", "", [](const RunRecord& run) { return stateName(run.state); }));
    differences.outcomes.push_back(rowOf(columns, "step", "", stepText));
    for (const MeasureInfo& info : measures()) {
        // Titles of what is counted name the unit already.
        const bool is_counted = info.unit == "problems" || info.unit == "steps";
        RunsRow row{titleOf(info.measure, kShareSolved), is_counted ? "" : info.unit, {}};
        for (const RunColumn& column : columns)
            row.values.push_back(outcomeText(column, info.measure));
        const bool any = std::any_of(row.values.begin(), row.values.end(),
                                     [](const std::string& value) { return value != kNone; });
        if (any) differences.outcomes.push_back(std::move(row));
    }
    return differences;
}

std::string markdownOf(const RunDifferences& differences) {
    std::string text = "| |", rule = "|---|";
    for (const std::string& column : differences.columns) {
        text += " " + markdownCell(column) + " |";
        rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (const auto* rows : {&differences.settings, &differences.outcomes}) {
        for (const RunsRow& row : *rows) {
            text += "| " + markdownCell(row.name) +
                    (row.unit.empty() ? "" : " (" + markdownCell(row.unit) + ")") + " |";
            for (const std::string& value : row.values)
                text += " " + markdownCell(value) + " |";
            text += "\n";
        }
    }
    return text;
}

}  // namespace roper
