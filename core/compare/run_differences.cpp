#include "core/compare/run_differences.h"

#include <algorithm>
#include <functional>

#include "core/base/text.h"

namespace roper {
namespace {

constexpr double kShareSolved = 0.9;
constexpr auto kNotUsed = "not used";
constexpr auto kNone = "–";

bool allAreTheSame(const std::vector<std::string>& values) {
    return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

std::string outcomeText(const RunRecord& run, Measure measure) {
    const OutcomeValue outcome = outcomeOf(run, measure, kShareSolved);
    switch (outcome.kind) {
        case Outcome::known: {
            std::string text = formatRounded(outcome.value, 5);
            const bool counts_problems = infoOf(measure).unit == "problems";
            if (counts_problems && run.evaluations.back().of)
                text += " of " + std::to_string(*run.evaluations.back().of);
            return text;
        }
        case Outcome::never:
            return "not reached";
        case Outcome::unfinished:
        case Outcome::missing:
            break;
    }
    return kNone;
}

std::string stepText(const RunRecord& run) {
    const std::int64_t step = run.metrics.empty() ? 0 : run.metrics.back().step;
    return std::to_string(step) + " of " + std::to_string(run.specification.training.steps);
}

template <class TextOf>
RunsRow rowOf(std::span<const RunRecord> runs, std::string name, std::string unit, TextOf textOf) {
    RunsRow row{std::move(name), std::move(unit), {}};
    for (const RunRecord& run : runs)
        row.values.push_back(textOf(run));
    return row;
}

}  // namespace

RunDifferences differencesOf(std::span<const RunRecord> runs) {
    RunDifferences differences;
    for (const SpecificationField& field : specificationFields()) {
        if (field.section == "about") continue;
        RunsRow row = rowOf(runs, field.key(), field.unit, [&](const RunRecord& run) {
            return whyUnused(field, run.specification) ? kNotUsed : field.text(run.specification);
        });
        if (!allAreTheSame(row.values)) differences.settings.push_back(std::move(row));
    }
    RunsRow machines = rowOf(runs, "machine", "", [](const RunRecord& run) { return run.host; });
    if (!allAreTheSame(machines.values)) differences.settings.push_back(std::move(machines));
    std::vector<std::vector<std::pair<std::string, std::set<std::string>>>> computed;
    for (const RunRecord& run : runs)
        computed.push_back(fieldsOf(run.computations));
    for (std::size_t field = 0; field < computed.front().size(); ++field) {
        RunsRow row{computed.front()[field].first, "", {}};
        for (const auto& of_run : computed) {
            const std::set<std::string>& values = of_run[field].second;  // of a run resumed elsewhere several
            const std::string text = join({values.begin(), values.end()}, "; ");
            row.values.push_back(text.empty() ? kNone : text);
        }
        if (!allAreTheSame(row.values)) differences.settings.push_back(std::move(row));
    }

    differences.outcomes.push_back(
        rowOf(runs, "state", "", [](const RunRecord& run) { return stateName(run.state); }));
    differences.outcomes.push_back(rowOf(runs, "step", "", stepText));
    for (const MeasureInfo& info : measures()) {
        // Titles of what is counted name the unit already.
        const bool is_counted = info.unit == "problems" || info.unit == "steps";
        RunsRow row = rowOf(runs, titleOf(info.measure, kShareSolved), is_counted ? "" : info.unit,
                            [&](const RunRecord& run) { return outcomeText(run, info.measure); });
        const bool any = std::any_of(row.values.begin(), row.values.end(),
                                     [](const std::string& value) { return value != kNone; });
        if (any) differences.outcomes.push_back(std::move(row));
    }
    return differences;
}

std::string markdownOf(std::span<const RunRecord> runs, const RunDifferences& differences) {
    std::string text = "| |", rule = "|---|";
    for (const RunRecord& run : runs) {
        text += " " + markdownCell(run.name) + " |";
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
