#include "app/roper_train/experiment_commands.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/roper_train/commands.h"
#include "app/roper_train/trainer_crew.h"
#include "core/compare/board.h"
#include "core/compare/run_filter.h"
#include "core/compare/run_table.h"
#include "core/runs/durable_file.h"
#include "core/runs/error.h"
#include "core/runs/metrics_import.h"
#include "core/runs/run_recorder.h"
#include "core/runs/sweep.h"
#include "core/runs/text.h"
#include "core/training/bench.h"

namespace roper {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

void say(const std::string& text) {
    std::cerr << text << std::endl;
}

int exitCodeOfEnd(bool all_done) {
    return all_done ? 0 : static_cast<int>(ErrorKind::preempted);
}

void print(const Json& json) {
    std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

/// The run of a sweep, made if it is not there.
RunFolder findOrMake(const fs::path& runs, const SweepRun& wanted) {
    const RunFolder folder(runs / wanted.name);
    if (!fs::exists(folder.path())) return createRun(runs, wanted.name, wanted.specification);
    const Specification there = folder.specification();
    const auto seeds = [](const Specification& s) {
        return std::pair(s.training.data_seed, s.training.model_seed);
    };
    if (groupKey(there) != groupKey(wanted.specification) || seeds(there) != seeds(wanted.specification))
        throw Error(ErrorKind::usage, folder.path().string() +
                                          " is another experiment than the sweep asks for; give the sweep "
                                          "another file name, or the runs another folder");
    return folder;
}

/// In single quotes for a shell, whatever it holds.
std::string shellQuoted(const std::string& text) {
    std::string quoted = "'";
    for (const char c : text)
        quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string slurmScript(const fs::path& sweep, const fs::path& runs, std::size_t count) {
    const std::string name = sweep.stem().string();
    return "#!/bin/bash\n#SBATCH --job-name=" + name + "\n#SBATCH --array=0-" + std::to_string(count - 1) +
           "\n#SBATCH --requeue\n#SBATCH --signal=TERM@120\n# One run an element; an element that is "
           "preempted "
           "resumes where it was.\nexec roper-train sweep " +
           shellQuoted(fs::absolute(sweep).string()) + " --runs " + shellQuoted(fs::absolute(runs).string()) +
           " --only \"$SLURM_ARRAY_TASK_ID\"\n";
}

/// The group that a person names by words of its label. @throws Error (usage)
const RunGroup& findGroup(const std::vector<RunGroup>& groups, const std::string& label,
                          const std::string& position) {
    std::vector<std::string> labels;
    const RunGroup* found = nullptr;
    int matches = 0;
    for (const RunGroup& group : groups) {
        labels.push_back(group.label);
        if (group.label == label) return group;
        const bool fits = label.empty() ? group.specification.model.position == position
                                        : group.label.find(label) != std::string::npos;
        if (!fits) continue;
        found = &group;
        ++matches;
    }
    if (matches == 1) return *found;
    const std::string asked = label.empty() ? methodTitle(position) : label;
    throw Error(ErrorKind::usage,
                (matches == 0 ? "no group of runs is \"" : "several groups of runs are \"") + asked +
                    "\"; there are: " + join(labels, "; ") + ". Choose with --filter, --a and --b.");
}

void printGroups(std::span<const RunRecord> runs, const std::vector<RunGroup>& groups, Measure measure,
                 double share) {
    for (const RunGroup& group : groups) {
        std::vector<double> values;
        for (const std::size_t run : group.runs) {
            const OutcomeValue outcome = outcomeOf(runs[run], measure, share);
            if (outcome.kind == Outcome::known) values.push_back(outcome.value);
        }
        const Summary summary = summarize(values);
        std::cout << group.label << ": " << countOf(group.runs.size(), "run") << ", " << values.size()
                  << " with this outcome";
        if (!values.empty())
            std::cout << ", mean " << formatRounded(summary.mean, 5) << ", from "
                      << formatRounded(summary.least, 5) << " to " << formatRounded(summary.greatest, 5);
        std::cout << "\n";
    }
}

Json comparisonJson(const PairedComparison& c) {
    Json json = {{"a", c.label_a},
                 {"b", c.label_b},
                 {"measure", infoOf(c.measure).name},
                 {"pairs", c.pairs.size()},
                 {"complete", c.differences().size()}};
    if (c.test)
        json.update({{"mean", c.test->difference.mean},
                     {"deviation", c.test->difference.deviation},
                     {"t", c.test->t},
                     {"p", c.test->p},
                     {"low", c.test->interval.low},
                     {"high", c.test->interval.high},
                     {"bootstrap_low", c.test->bootstrap.low},
                     {"bootstrap_high", c.test->bootstrap.high}});
    json["better_a"] = c.better_a;
    json["better_b"] = c.better_b;
    json["conclusion"] = conclusionOf(c);
    return json;
}

Json orNull(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json cellJson(const BoardRow& row, const BoardCell& cell) {
    return {{"preset", row.target.preset},
            {"position", cell.position},
            {"target", cell.target},
            {"finished", cell.finished.size()},
            {"unfinished", cell.unfinished.size()},
            {"missing", cell.missing},
            {"mean", orNull(cell.mean)},
            {"seconds_a_step", orNull(cell.seconds_a_step)},
            {"seconds_left", orNull(cell.seconds_left)}};
}

std::string cellText(const BoardRow& row, const BoardCell& cell) {
    std::ostringstream text;
    text << std::left << std::setw(6) << methodTitle(cell.position) << " target "
         << formatRounded(cell.target, 5);
    if (cell.other_target) text << " (another copy: " << formatRounded(*cell.other_target, 5) << ")";
    text << ", ours " << (cell.mean ? formatRounded(*cell.mean, 5) : "-") << ", " << cell.finished.size()
         << " of " << row.target.runs << " runs finished, "
         << (cell.seconds_left ? durationText(*cell.seconds_left) + " to go"
                               : "speed not measured: --measure");
    return text.str();
}

void measureSpeeds(const std::vector<BoardRow>& board, const fs::path& runs) {
    for (const BoardRow& row : board) {
        for (const BoardCell& cell : row.cells) {
            if (cell.seconds_a_step) continue;
            Specification specification = row.specification;
            specification.model.position = cell.position;
            say("measuring a step of " + row.target.preset + ", " + methodTitle(cell.position) + " …");
            rememberSpeed(runs, specification, benchSteps(specification, 3, 1).median());
        }
    }
}

/// Whether a run of a sweep failed; one that cannot be read counts as failed.
bool hasFailed(const RunFolder& folder) {
    try {
        return folder.status().state == RunState::failed;
    } catch (const Error&) {
        return true;
    }
}

/// Trains what is missing of a sweep. @returns the exit code
int trainSweep(const std::vector<SweepRun>& wanted, const SweepOptions& options) {
    RunQueue queue;
    queue.at_once = options.at_once;
    std::size_t done = 0, failed = 0;
    for (const SweepRun& run : wanted) {
        const RunFolder folder = findOrMake(options.runs, run);
        const Status status = folder.status();
        const RunState state = trueState(status);
        if (state == RunState::finished) {
            ++done;
        } else if (state == RunState::failed) {
            ++failed;
            say(run.name + " failed before and is not tried again: " + status.error);
        } else {
            if (state == RunState::stopped) allowToGoOn(folder);
            queue.entries.push_back({run.name, false});
        }
    }
    say(countOf(wanted.size(), "run") + ", " + std::to_string(done) + " finished before");
    const auto remove = [&](const std::string& run) {
        std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
        failed += hasFailed(RunFolder(options.runs / run)) ? 1 : 0;
    };
    const auto give_up = [&](const std::string& run) {
        std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
        ++failed;
    };
    const bool all_done = TrainerCrew({options.runs, [&] { return queue; }, remove, give_up, say}).run();
    if (!all_done) say("interrupted; the same command goes on where it was");
    return failed > 0 ? static_cast<int>(ErrorKind::other) : exitCodeOfEnd(all_done);
}

}  // namespace

std::vector<std::int64_t> parseSeeds(const std::string& text) {
    std::vector<std::int64_t> seeds;
    for (const std::string& part : split(text, ',')) {
        const std::size_t dash = part.find('-', 1);
        const auto first = parseInteger(part.substr(0, dash));
        const auto last = dash == std::string::npos ? first : parseInteger(part.substr(dash + 1));
        constexpr long long kMost = 10000;
        if (!first || !last || *first < 0 || *last < *first || *last - *first >= kMost)
            throw Error(ErrorKind::usage, "seeds are written 0-4, 3 or 1,5,9, not \"" + text + "\"");
        for (long long seed = *first; seed <= *last; ++seed)
            seeds.push_back(seed);
    }
    return seeds;
}

int enqueueCommand(const EnqueueOptions& options) {
    Specification base = namedSpecification(options.what);
    for (const std::string& setting : options.settings)
        applySetting(base, setting);
    std::vector<std::string> positions = {base.model.position};
    if (options.twins) positions = {"rope", "roper"};
    std::vector<Specification> wanted;
    for (const std::int64_t seed : parseSeeds(options.seeds)) {
        for (const std::string& position : positions) {
            Specification specification = base;
            specification.model.position = position;
            specification.training.data_seed = specification.training.model_seed = seed;
            requireValid(specification, options.what);
            wanted.push_back(specification);
        }
    }
    for (const std::string& name : enqueueRuns(options.runs, wanted))
        std::cout << name << "\n";
    say("`roper-train queue --runs " + options.runs.string() + "` trains them, and so does an open window");
    return 0;
}

int queueCommand(const fs::path& runs, bool quietly) {
    if (!fs::is_directory(runs)) throw Error(ErrorKind::usage, "there is no folder " + runs.string());
    const QueueLock lock(runs);
    if (!lock.isMine()) {
        if (!quietly) say("another program works through the queue of " + runs.string() + " already");
        return 0;
    }
    const auto without = [&](const std::string& run) {
        changeQueue(runs, [&](RunQueue& queue) {
            std::erase_if(queue.entries, [&](const RunQueue::Entry& entry) { return entry.run == run; });
        });
    };
    const auto hold = [&](const std::string& run) {
        changeQueue(runs, [&](RunQueue& queue) {
            for (RunQueue::Entry& entry : queue.entries)
                if (entry.run == run) entry.held = true;
        });
    };
    const auto tell = [quietly](const std::string& text) {
        if (!quietly) say(text);
    };
    return exitCodeOfEnd(TrainerCrew({runs, [&] { return readQueue(runs); }, without, hold, tell}).run());
}

int sweepCommand(const SweepOptions& options) {
    const fs::path path = findSweep(options.sweep);
    std::vector<SweepRun> wanted = readSweep(path);
    if (options.slurm) {
        std::cout << slurmScript(path, options.runs, wanted.size());
        return 0;
    }
    if (options.only >= 0) {
        if (options.only >= static_cast<std::int64_t>(wanted.size()))
            throw Error(ErrorKind::usage,
                        path.string() + " has runs 0 to " + std::to_string(wanted.size() - 1));
        wanted = {wanted[static_cast<std::size_t>(options.only)]};
    }
    return trainSweep(wanted, options);
}

int compareCommand(const CompareOptions& options) {
    const RunTable table(options.runs);
    for (const std::string& problem : table.problems())
        say("left out: " + problem);
    const RunFilter filter(options.filter);
    if (filter.isUnfinished())
        throw Error(ErrorKind::usage, "a comparison in \"" + options.filter + "\" lacks its value");
    std::vector<RunRecord> runs;
    std::copy_if(table.records().begin(), table.records().end(), std::back_inserter(runs),
                 [&](const RunRecord& run) { return filter.matches(run); });
    if (runs.empty()) throw Error(ErrorKind::usage, "no run in " + options.runs.string() + " matches");
    const std::vector<RunGroup> groups = groupRuns(runs);
    const RunGroup& a = findGroup(groups, options.a, "rope");
    const RunGroup& b = findGroup(groups, options.b, "roper");
    if (a.key == b.key) throw Error(ErrorKind::usage, "a group cannot be compared with itself: " + a.label);
    const Measure measure =
        options.measure.empty() ? usualMeasure(a.specification) : measureOf(options.measure);
    const PairedComparison comparison = comparePaired(runs, a, b, measure, options.share);
    if (!options.csv.empty()) writeFileAtomically(options.csv, csvOf(comparison));
    if (options.json) {
        print(comparisonJson(comparison));
        return 0;
    }
    printGroups(runs, groups, measure, options.share);
    std::cout << "\n" << csvOf(comparison) << "\n" << conclusionOf(comparison) << "\n";
    return 0;
}

int boardCommand(const fs::path& runs, bool measure, bool enqueue, bool json) {
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
    const auto left = secondsLeft(board);
    if (!json)
        std::cout << (left ? durationText(*left) + " for what is missing, one run after the other\n"
                           : "`roper-train board --measure` says how long it takes here\n");
    if (enqueue) say(countOf(enqueueRuns(runs, missingRuns(board)).size(), "run") + " queued");
    return 0;
}

int importCommand(const ImportOptions& options) {
    const ForeignTable table = readForeignTable(options.file);
    if (table.unread > 0) say(countOf(table.unread, "cell") + " of " + table.origin + " held no number");
    auto mapping = guessMapping(table);
    for (const std::string& column : options.columns) {
        const std::size_t equals = column.find('=');
        if (equals == std::string::npos)
            throw Error(ErrorKind::usage, "a column is written field=column, not \"" + column + "\"");
        mapping[column.substr(0, equals)] = column.substr(equals + 1);
    }
    Specification specification;
    for (const std::string& setting : options.settings)
        applySetting(specification, setting);
    std::cout << importRun(options.runs, options.name, specification, table, mapping).path().string() << "\n";
    return 0;
}

int benchCommand(const BenchOptions& options) {
    for (const char* position : {"rope", "roper"}) {
        Specification specification = namedSpecification(options.what);
        for (const std::string& setting : options.settings)
            applySetting(specification, setting);
        specification.model.position = position;
        requireValid(specification, options.what);
        Json line = {{"work", options.work}, {"preset", options.what}, {"method", position}};
        const BenchTimes steps =
            benchSteps(specification, options.work == "step" ? options.times : std::min(options.times, 3), 1);
        line["step_ms"] = 1000 * steps.median();
        if (options.work == "step") {
            line["min_ms"] = 1000 * steps.least();
            line["max_ms"] = 1000 * steps.greatest();
            line["tokens_per_s"] =
                static_cast<double>(specification.training.batch * (specification.training.length - 1)) /
                steps.median();
            if (options.remember) rememberSpeed(options.runs, specification, steps.median());
        } else {
            const GenerationBench generation = benchGeneration(specification, std::min(options.times, 3));
            line["problems"] = specification.evaluation.problems;
            line["generate_ms"] = 1000 * generation.times.median();
            line["characters_per_s"] = static_cast<double>(generation.characters) / generation.times.median();
            line["in_steps"] = generation.times.median() / steps.median();
        }
        if (options.json) {
            print(line);
            continue;
        }
        std::cout << methodTitle(position) << ":";
        for (const auto& [key, value] : line.items())
            if (value.is_number()) std::cout << "  " << key << " " << formatRounded(value.get<double>(), 4);
        std::cout << std::endl;
    }
    return 0;
}

}  // namespace roper
