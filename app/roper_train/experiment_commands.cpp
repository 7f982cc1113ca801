#include "app/roper_train/experiment_commands.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/roper_train/commands.h"
#include "app/roper_train/json_line.h"
#include "core/base/console.h"
#include "core/base/durable_file.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/bench/bench.h"
#include "core/compare/board.h"
#include "core/compare/experiment.h"
#include "core/compare/method_table.h"
#include "core/compare/outcome.h"
#include "core/compare/outcome_table.h"
#include "core/compare/precision_table.h"
#include "core/compare/run_differences.h"
#include "core/compare/run_filter.h"
#include "core/runs/metrics_import.h"
#include "core/runs/run_queue.h"
#include "core/runs/run_recorder.h"

// Commands that analyze many runs: compare, methods, precision, diff, board, import.

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The group with this label or, if there is none, whose label contains it; for an empty label, the group
/// trained with this position method. @throws Error (usage) unless exactly one group fits
const RunGroup& findGroup(const std::vector<RunGroup>& groups, const std::string& label,
                          const std::string& position) {
    const RunGroup* found = nullptr;
    int matches = 0;
    for (const RunGroup& group : groups) {
        if (group.label == label) return group;
        const bool fits = label.empty() ? group.specification.methodName() == position
                                        : group.label.find(label) != std::string::npos;
        if (!fits) continue;
        found = &group;
        ++matches;
    }
    if (matches == 1) return *found;
    const std::string requested = label.empty() ? positionMethod(position).title : label;
    throw Error(ErrorKind::usage,
                (matches == 0 ? "no group of runs matches \"" : "several groups of runs match \"") +
                    requested + "\"; the groups are: " + join(mapped(groups, &RunGroup::label), "; ") +
                    ". Choose with --filter, --a and --b.");
}

void printGroups(std::span<const RunRecord> runs, const std::vector<RunGroup>& groups, Measure measure,
                 double solved_fraction) {
    for (const RunGroup& group : groups) {
        const std::vector<std::size_t> counted = oneRunPerSeed(runs, group);
        const std::vector<double> values = knownOutcomes(runs, counted, measure, solved_fraction);
        const Summary summary = summarize(values);
        std::cout << group.label << ": " << countOf(group.runs.size(), "run") << ", " << values.size()
                  << " with this outcome";
        if (!values.empty())
            std::cout << ", mean " << formatRounded(summary.mean, 5) << ", from "
                      << formatRounded(summary.minimum, 5) << " to " << formatRounded(summary.maximum, 5);
        if (const std::size_t left_out = group.runs.size() - counted.size(); left_out > 0)
            std::cout << ", " << left_out << " left out (seed trained more than once, or another precision)";
        std::cout << "\n";
    }
}

Json orNull(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json jsonOf(const PairedComparison& c) {
    Json json = {{"a", c.label_a},
                 {"b", c.label_b},
                 {"measure", infoOf(c.measure).name},
                 {"pairs", c.pairs.size()},
                 {"complete", c.differences().size()}};
    if (c.measure == Measure::steps_until) json["share"] = c.solved_fraction;
    if (c.test)
        json.update({{"mean", c.test->difference.mean},
                     {"deviation", c.test->difference.standard_deviation},
                     {"t", c.test->t},
                     {"p", c.test->p},
                     {"low", c.test->interval.low},
                     {"high", c.test->interval.high}});
    if (c.test && c.test->bootstrap)
        json.update({{"bootstrap_low", c.test->bootstrap->low}, {"bootstrap_high", c.test->bootstrap->high}});
    if (c.test) json["permutation_p"] = orNull(c.test->permutation_p);
    if (c.pairs_needed) json["pairs_for_power_80"] = *c.pairs_needed;
    json["better_a"] = c.better_a;
    json["better_b"] = c.better_b;
    json["sign_p"] = c.sign_p;
    json["conclusion"] = conclusionText(c);
    return json;
}

Json jsonOf(const OutcomeRow& row) {
    Json json = jsonOf(row.comparison);
    if (row.a.count > 0) json["mean_a"] = row.a.mean;
    if (row.b.count > 0) json["mean_b"] = row.b.mean;
    json["test"] = row.is_sign_test ? "sign" : "paired t";
    json["test_p"] = orNull(row.p);
    json["holm_p"] = orNull(row.holm_p);
    json["named_before"] = row.is_preregistered;
    return json;
}

Json cellJson(const BoardRow& row, const BoardCell& cell) {
    return {{"preset", row.target.preset},
            {"position", cell.position},
            {"target", cell.target},
            {"finished", cell.finished.size()},
            {"unfinished", cell.unfinished.size()},
            {"missing", cell.missing},
            {"mean", orNull(cell.mean)},
            {"seconds_a_step", orNull(cell.seconds_per_step)},
            {"seconds_left", orNull(cell.remaining_seconds)}};
}

std::string cellText(const BoardRow& row, const BoardCell& cell) {
    std::ostringstream text;
    text << std::left << std::setw(6) << positionMethod(cell.position).title << " target "
         << formatRounded(cell.target, 5);
    if (cell.alternative_target)
        text << " (another copy: " << formatRounded(*cell.alternative_target, 5) << ")";
    text << ", ours " << (cell.mean ? formatRounded(*cell.mean, 5) : "-") << ", " << cell.finished.size()
         << " of " << row.target.runs << " runs finished, "
         << (cell.remaining_seconds ? durationText(*cell.remaining_seconds) + " left"
                                    : "speed not measured (use --measure)");
    return text.str();
}

Json rowsJson(const std::vector<RunsRow>& rows) {
    Json json = Json::array();
    for (const RunsRow& row : rows)
        json.push_back({{"name", row.name}, {"unit", row.unit}, {"values", row.values}});
    return json;
}

/// Number of characters in a UTF-8 text.
std::size_t charactersOf(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// Prints lines of cells in aligned columns; an empty line stays empty.
void printInColumns(const std::vector<std::vector<std::string>>& lines) {
    std::vector<std::size_t> widths;
    for (const auto& line : lines) {
        widths.resize(std::max(widths.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], charactersOf(line[i]));
    }
    for (const auto& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            std::cout << line[i];
            if (i + 1 < line.size()) std::cout << std::string(widths[i] - charactersOf(line[i]) + 2, ' ');
        }
        std::cout << "\n";
    }
}

void printTable(const RunDifferences& differences) {
    std::vector<std::vector<std::string>> lines{{""}};
    for (const std::string& column : differences.columns)
        lines.front().push_back(toSingleLine(column));
    for (const auto* rows : {&differences.settings, &differences.outcomes}) {
        for (const RunsRow& row : *rows) {
            lines.push_back({row.title()});
            for (const std::string& value : row.values)
                lines.back().push_back(toSingleLine(value));
        }
        if (rows == &differences.settings) lines.emplace_back();
    }
    printInColumns(lines);
    if (differences.settings.empty()) std::cout << "No settings differ.\n";
}

/// Reports which seeds a comparison leaves out. @param prefix  what is compared: "copy-quick, ALiBi: "
void reportExcluded(const std::string& prefix, const PairedComparison& comparison) {
    if (const std::string text = trimmed(omissionsText(comparison)); !text.empty())
        reportToUser(prefix + text);
}

int printOutcomes(const std::vector<OutcomeRow>& rows, const CompareOptions& options) {
    if (!options.csv.empty()) writeFileAtomically(outputPath(options.csv), toCsv(rows));
    if (options.json) {
        for (const OutcomeRow& row : rows)
            print(jsonOf(row));
        return 0;
    }
    if (rows.empty()) {
        reportToUser("no seed has an outcome in both groups yet");
        return 0;
    }
    reportExcluded("", rows.front().comparison);
    const auto [label_a, label_b] = differingLabels(rows.front().comparison);
    std::vector<std::vector<std::string>> lines{
        {"", label_a, label_b, "difference", "95 % interval", "p", "p by Holm"}};
    for (const OutcomeRow& row : rows) {
        const OutcomeCells cells = formatCells(row);
        lines.push_back(
            {cells.title, cells.a, cells.b, cells.difference, cells.interval, cells.p, cells.holm_p});
    }
    printInColumns(lines);
    return 0;
}

/// The runs that match a filter. @throws Error (usage) if there are none
std::vector<RunRecord> matchingRuns(const RunTable& table, const std::string& words, const fs::path& folder) {
    for (const std::string& problem : table.problems())
        reportToUser("left out: " + problem);
    const RunFilter filter(words);
    if (filter.isUnfinished())
        throw Error(ErrorKind::usage, "a comparison in \"" + words + "\" has no value");
    std::vector<RunRecord> runs;
    std::ranges::copy_if(table.records(), std::back_inserter(runs),
                         [&](const RunRecord& run) { return filter.matches(run); });
    if (runs.empty()) throw Error(ErrorKind::usage, "no run in " + folder.string() + " matches");
    return runs;
}

void measureSpeeds(const std::vector<BoardRow>& board, const fs::path& runs) {
    for (const BoardRow& row : board) {
        for (const BoardCell& cell : row.cells) {
            if (cell.seconds_per_step) continue;
            const Specification specification = withPosition(row.specification, cell.position);
            reportToUser("measuring a step of " + row.target.preset + ", " +
                         positionMethod(cell.position).title + " …");
            constexpr double kMinSeconds = 15;
            saveSpeed(runs, specification, benchStepSeconds(specification, kMinSeconds));
        }
    }
}

}  // namespace

int compareCommand(const CompareOptions& options) {
    std::optional<ExitOnClosedOutput> exit_on_closed_output;
    if (options.csv.empty()) exit_on_closed_output.emplace();
    const RunTable table(options.runs);
    const std::vector<RunRecord> runs = matchingRuns(table, options.filter, options.runs);
    const std::vector<RunGroup> groups = groupRuns(runs);
    const RunGroup& a = findGroup(groups, options.a, twinMethods().front());
    const RunGroup& b = findGroup(groups, options.b, twinMethods().back());
    if (a.key == b.key) throw Error(ErrorKind::usage, "a group cannot be compared with itself: " + a.label);
    if (options.all) return printOutcomes(outcomeTable(runs, a, b), options);
    const Measure measure =
        options.measure.empty() ? defaultComparisonMeasure(runs, a, b) : parseMeasure(options.measure);
    if (options.measure.empty() && options.solved_fraction == kPreregisteredFraction &&
        preregisteredMeasure(runs, a, b))
        reportToUser("The preset names this as the primary measure; --measure chooses another measure.");
    else if (options.measure.empty() && measure == Measure::steps_until)
        reportToUser(
            "Every finished run solves 95 % in the end, so times are compared; --measure chooses another "
            "measure.");
    const PairedComparison comparison = comparePaired(runs, a, b, measure, options.solved_fraction);
    if (!options.csv.empty()) writeFileAtomically(outputPath(options.csv), toCsv(comparison));
    if (options.json) {
        print(jsonOf(comparison));
        return 0;
    }
    printGroups(runs, groups, measure, options.solved_fraction);
    std::cout << "\n" << toCsv(comparison) << "\n" << conclusionText(comparison) << "\n";
    return 0;
}

int methodsCommand(const MethodsOptions& options) {
    const RunTable read(options.runs);
    const auto measure =
        options.measure.empty() ? std::nullopt : std::optional(parseMeasure(options.measure));
    const MethodTable table = methodTable(matchingRuns(read, options.filter, options.runs), options.reference,
                                          measure, options.solved_fraction);
    if (!options.csv.empty()) writeFileAtomically(outputPath(options.csv), toCsv(table));
    if (!options.markdown.empty()) writeFileAtomically(outputPath(options.markdown), toMarkdown(table));
    printInColumns(tableRows(table));
    for (const MethodColumn& column : table.columns)
        for (std::size_t row = 0; row < column.cells.size(); ++row)
            if (const auto& cell = column.cells[row]; cell && cell->versus_reference)
                reportExcluded(column.preset + ", " + table.methods[row] + ": ",
                               cell->versus_reference->comparison);
    return 0;
}

int precisionCommand(const PrecisionOptions& options) {
    const RunTable read(options.runs);
    const std::vector<RunRecord> runs = matchingRuns(read, options.filter, options.runs);
    const std::vector<PrecisionRow> rows = precisionTable(runs, parseMeasure(options.measure), options.bound);
    if (rows.empty())
        throw Error(ErrorKind::usage,
                    "no group of runs has been trained in both precisions: train the same seeds with "
                    "--set device.precision=fp32 and with --set device.precision=bf16");
    if (!options.csv.empty()) writeFileAtomically(outputPath(options.csv), toCsv(rows));
    printInColumns(tableRows(rows));
    for (const PrecisionRow& row : rows)
        if (row.omittedPairs() > 0)
            reportToUser(row.label + ": in " + countOf(static_cast<std::size_t>(row.omittedPairs()), "pair") +
                         " a run failed, is not finished or was not measured, so equivalence is not claimed");
    return 0;
}

int diffCommand(const std::vector<std::string>& names, const fs::path& runs, bool json) {
    const ExitOnClosedOutput exit_on_closed_output;
    const auto folders = mapped(names, [&](const std::string& name) { return findRun(name, runs); });
    const RunTable table(folders);
    if (!table.problems().empty()) throw Error(ErrorKind::usage, table.problems().front());
    const RunDifferences differences = differencesOf(table.records());
    if (json)
        print({{"runs", differences.columns},
               {"settings", rowsJson(differences.settings)},
               {"outcomes", rowsJson(differences.outcomes)}});
    else
        printTable(differences);
    return 0;
}

int boardCommand(const fs::path& runs, bool measure, bool enqueue, bool json) {
    std::optional<ExitOnClosedOutput> exit_on_closed_output;
    if (!measure && !enqueue) exit_on_closed_output.emplace();
    const RunTable table(runs);
    if (measure) measureSpeeds(makeBoard(table.records(), readSpeeds(runs)), runs);
    const std::vector<BoardRow> board = makeBoard(table.records(), readSpeeds(runs));
    for (const BoardRow& row : board) {
        if (!json) std::cout << row.target.title << " (" << row.target.preset << ")\n";
        for (const BoardCell& cell : row.cells) {
            if (json)
                print(cellJson(row, cell));
            else
                std::cout << "  " << cellText(row, cell) << "\n";
        }
    }
    const auto left = remainingSeconds(board);
    if (!json)
        std::cout << (left ? durationText(*left) + " for the missing runs, one after the other\n"
                           : "`roper-train board --measure` estimates the time on this machine\n");
    if (enqueue)
        reportToUser(
            countOf(
                enqueueRuns(runs, groupIntoExperiments(missingRuns(board), {}, std::time(nullptr))).size(),
                "run") +
            " queued");
    return 0;
}

int importCommand(const ImportOptions& options) {
    const ExternalTable table = readExternalTable(options.file);
    auto mapping = guessMapping(table);
    for (const std::string& column : options.columns) {
        const std::size_t equals = column.find('=');
        if (equals == std::string::npos)
            throw Error(ErrorKind::usage, "--column needs field=column, not \"" + column + "\"");
        mapping[column.substr(0, equals)] = column.substr(equals + 1);
    }
    Specification specification;
    std::vector<std::string> known;
    for (const std::string& setting : options.settings) {
        applySetting(specification, setting);
        const SpecificationField& field = findField(splitSetting(setting).first);
        if (field.section != "about") known.push_back(field.key());
    }
    if (!specification.about.known.empty()) known.push_back(specification.about.known);
    specification.about.known = join(known, " ");
    const ImportedRun imported = importRun(options.runs, options.name, specification, table, mapping);
    reportToUser(imported.columns);
    reportToUser(imported.known);
    for (const std::string& note : imported.notes)
        reportToUser(note);
    if (imported.folder.specification().methodName() == kUnknownMethod)
        reportToUser(
            "the method is unknown; --set model.position=roper declares it as RoPER, --set "
            "about.method=NAME gives it another name");
    std::cout << imported.folder.path().string() << "\n";
    return 0;
}

}  // namespace roper
