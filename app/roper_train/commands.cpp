#include "app/roper_train/commands.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/roper_train/json_line.h"
#include "app/roper_train/parent_watch.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/corpus/open_task.h"
#include "core/pretrained/pretrained_model.h"
#include "core/reading/serve_model.h"
#include "core/runs/compute_environment.h"
#include "core/runs/queue_approval.h"
#include "core/runs/run_folder.h"
#include "core/runs/run_recorder.h"
#include "core/runs/user_record.h"
#include "core/specification/cost.h"
#include "core/specification/presets.h"
#include "core/training/followers.h"
#include "core/training/session.h"
#include "core/training/srun_tasks.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

bool printsForHumans(Verbosity verbosity) {
    return verbosity == Verbosity::bar || verbosity == Verbosity::lines;
}

int train(const RunFolder& folder, Verbosity verbosity, const SessionOptions& session) {
    Progress progress(verbosity);
    if (printsForHumans(verbosity)) std::cerr << folder.path().string() << "\n";
    const RunState state = trainRun(folder, progress, session);
    if (verbosity == Verbosity::json) print({{"event", "end"}, {"state", stateName(state)}});
    progress.printSummary(state, folder);
    return state == RunState::preempted ? static_cast<int>(ErrorKind::preempted) : 0;
}

/// Trains a newly created run. If it cannot start, for example because its text is too short, its folder is
/// removed.
int trainNew(const RunFolder& folder, Verbosity verbosity, const SessionOptions& session) {
    try {
        return train(folder, verbosity, session);
    } catch (const Error& error) {
        std::error_code kept;
        if (error.kind() == ErrorKind::usage && folder.metrics().empty() && folder.checkpoints().empty())
            fs::remove_all(folder.path(), kept);
        throw;
    }
}

struct RunSummary {
    std::string name, state;
    std::int64_t step = 0, steps = 0;  ///< reached; to be reached
    std::string last;                  ///< the last evaluation, or what went wrong
};

RunSummary summaryOf(const RunFolder& run) {
    RunSummary summary{run.name(), "unreadable", 0, 0, ""};
    try {
        const Status status = run.status();
        const RunState state = run.effectiveState(status);
        summary.state = writerIsSuspended(status) ? "suspended" : stateName(state);
        const auto metrics = run.lastRow<MetricsRow>();
        const auto evaluation = run.lastRow<EvaluationRow>();
        summary.step = metrics ? std::max(status.step, metrics->step) : status.step;
        summary.steps = status.steps;
        if (state == RunState::unfinished)
            summary.steps = run.stepsToContinueTo(status).value_or(status.steps);
        if (evaluation) summary.last = evaluationText(*evaluation);
        if (!status.error.empty()) summary.last = status.error;
        if (state == RunState::interrupted)
            if (const auto crash = run.crash(status)) summary.last = "crashed with " + *crash;
        run.specification();  // throws if run.toml cannot be read, though nothing of it is shown
    } catch (const Error& error) {
        summary.last = toSingleLine(error.what());
    }
    return summary;
}

/// A line of `list --json`, with null for values that are missing or cannot be read.
nlohmann::ordered_json runJson(const RunFolder& run, const RunSummary& summary) {
    nlohmann::ordered_json json = {{"name", summary.name},
                                   {"state", summary.state},
                                   {"step", summary.step},
                                   {"steps", summary.steps},
                                   {"last", summary.last}};
    for (const char* key : {"experiment", "tags", "note", "preset", "task", "position", "data_seed",
                            "model_seed", "host", "computed_by", "metrics", "evaluation", "best"})
        json[key] = nullptr;
    try {
        const RunLabels labels = readLabels(run);
        if (!labels.experiment.empty()) json["experiment"] = labels.experiment;
        json["tags"] = labels.tags;
        if (!labels.note.empty()) json["note"] = labels.note;
    } catch (const Error& error) {
        json["labels_error"] = toSingleLine(error.what());
    }
    try {
        const Specification specification = run.specification();
        if (!specification.about.title.empty()) json["preset"] = specification.about.title;
        if (isKnown("task.name", specification)) json["task"] = specification.task.name;
        // Null for imported metrics with an unknown method.
        if (specification.methodName() != kUnknownMethod) json["position"] = specification.methodName();
        if (isKnown("training.data_seed", specification))
            json["data_seed"] = specification.training.data_seed;
        if (isKnown("training.model_seed", specification))
            json["model_seed"] = specification.training.model_seed;
        if (const std::string host = run.status().host; !host.empty()) json["host"] = host;
        for (const ComputeEnvironment& computation : computeEnvironmentsOf(readSessions(run)))
            json["computed_by"].push_back(textOf(computation));
        if (const auto row = run.lastRow<MetricsRow>()) json["metrics"] = rowJson(*row);
        const std::vector<EvaluationRow> evaluations = run.evaluations();
        if (!evaluations.empty()) json["evaluation"] = rowJson(evaluations.back());
        if (const auto best = bestOf(evaluations)) json["best"] = rowJson(*best);
    } catch (const Error&) {
        // `last` reports the problem; values read before are kept.
    }
    return json;
}

int printLines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        std::cout << line << "\n";
    return 0;
}

/// Reads a preset by its name, or a specification by its path. @throws Error (usage)
Specification readPresetOrFile(const std::string& what) {
    const bool is_path = what.ends_with(".toml") || what.find('/') != std::string::npos;
    if (!is_path) return loadPreset(what).specification;
    std::error_code unreadable;
    if (!fs::exists(what, unreadable))
        throw Error(ErrorKind::usage,
                    "file not found: " + what + "; `roper-train presets` lists the bundled presets");
    const std::string text = readFile(what);
    const Specification specification = parseSpecification(text, what);
    if (text.find('=') == std::string::npos)
        throw Error(ErrorKind::usage,
                    what + " sets no field; `roper-train describe` prints a file with all defaults");
    return specification;
}

}  // namespace

Specification loadSpecification(const std::string& what, const std::vector<std::string>& settings) {
    Specification specification = readPresetOrFile(what);
    for (const std::string& setting : settings)
        applySetting(specification, setting);
    return specification;
}

int runCommand(const RunOptions& options) {
    Specification specification = loadSpecification(options.what, options.settings);
    const auto set = [&](const char* key, const std::string& value) {
        if (!value.empty()) applySetting(specification, std::string(key).append("=").append(value));
    };
    set("training.steps", options.steps);
    set("training.data_seed", options.seed);
    set("training.model_seed", options.seed);
    set("device.threads", options.threads);
    set("device.name", options.device);
    // If --steps shortens a preset, its warm-up is shortened as needed.
    if (!options.steps.empty())
        specification.training.warmup_steps =
            std::min(specification.training.warmup_steps, specification.training.steps);
    requireValid(specification, options.what);
    const bool by_srun = srunTask(options.session.processes).has_value();
    if (by_srun && options.name.empty())
        throw Error(ErrorKind::usage,
                    "srun starts every process with the same command, which must name the run: --name NAME");
    requireSequencePerProcess(specification, options.session.processes);
    if (!options.session.ignore_memory_estimate) requireMemory(specification);
    requireReadableText(specification.task);
    const RunFolder named(options.runs / options.name);
    if (followIfSrunTask(named, options.session.processes)) return 0;
    const auto make = [&] {
        try {
            return createRun(options.runs, options.name, specification);
        } catch (const Error& error) {
            if (by_srun && isRunName(options.name)) announceEnd(named, error.what(), error.exitCode());
            throw;
        }
    };
    return trainNew(make(), options.verbosity, options.session);
}

int resumeCommand(const std::string& run, const fs::path& runs, const SessionOptions& session,
                  Verbosity verbosity) {
    const RunFolder folder = findRun(run, runs);
    const Status status = folder.status();
    if (status.state == RunState::finished && !folder.stepsToContinueTo(status)) {
        std::cerr << folder.path().string() << " is finished (" << status.step
                  << " steps); nothing to resume. "
                  << (folder.checkpoints().empty()
                          ? "It has no checkpoint to resume from.\n"
                          : "To continue it, increase training.steps in its run.toml.\n");
        return 0;
    }
    if (followIfSrunTask(folder, session.processes)) return 0;
    if (status.step > 0 && folder.checkpoints().empty() && verbosity != Verbosity::quiet)
        std::cerr << "no checkpoint has been written yet; the run starts again at step 1\n";
    return train(folder, verbosity, session);
}

int followCommand(const FollowOptions& options) {
    const std::size_t colon = options.at.rfind(':');
    const auto port = colon == std::string::npos ? std::nullopt : parseInteger(options.at.substr(colon + 1));
    constexpr int kMaxProcesses = 1024, kMaxPort = 65535;
    if (!port || *port < 1 || *port > kMaxPort || options.size > kMaxProcesses || options.rank < 1 ||
        options.rank >= options.size)
        throw Error(ErrorKind::usage, "follow needs HOST:PORT, and a --rank of at least 1 and below --of");
    if (options.parent > 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != options.parent) return 0;  // the parent has already ended
    }
    std::string key;
    std::getline(std::cin, key);
    followRun({options.at.substr(0, colon), static_cast<int>(*port), key}, options.rank, options.size);
    return 0;
}

int listCommand(const fs::path& runs, bool json) {
    const ExitOnClosedOutput exit_on_closed_output;
    std::size_t widest = 4;
    std::vector<RunSummary> all;
    for (const RunFolder& run : listRuns(runs)) {
        all.push_back(summaryOf(run));
        widest = std::max(widest, all.back().name.size());
    }
    if (all.empty() && !json) std::cerr << "no runs in " << runs.string() << "\n";
    for (const RunSummary& run : all) {
        if (json) {
            print(runJson(RunFolder(runs / run.name), run));
        } else {
            std::cout << std::left << std::setw(static_cast<int>(widest) + 2) << run.name << std::setw(13)
                      << run.state << std::right << std::setw(8) << run.step << "/" << std::left
                      << std::setw(8) << run.steps << run.last << "\n";
        }
    }
    return 0;
}

int listNamesCommand(const fs::path& runs) {
    return printLines(mapped(listRuns(runs), &RunFolder::name));
}

int presetNamesCommand() {
    return printLines(presetNames());
}

int keysCommand() {
    return printLines(
        mapped(specificationFields(), [](const SpecificationField& field) { return field.key() + "="; }));
}

int valuesCommand(const std::string& key) {
    const SpecificationField& field = findField(key);
    if (const auto* choice = std::get_if<Choice>(&field.accepts)) return printLines(choice->names);
    return printLines(std::holds_alternative<Flag>(field.accepts) ? std::vector<std::string>{"true", "false"}
                                                                  : std::vector<std::string>());
}

int trustCommand(const fs::path& runs) {
    if (!fs::is_directory(runs)) throw Error(ErrorKind::usage, "folder not found: " + runs.string());
    trustFolder(runs);
    approveFingerprints(runs, unapprovedRuns(runs));
    const std::size_t waiting = readQueue(runs).entries.size();
    reportToUser(fs::canonical(runs).string() + " is treated as your own from now on" +
                 (waiting > 0 ? "; " + countOf(waiting, "run") + " in its queue can now be trained" : ""));
    return 0;
}

int presetsCommand(bool json) {
    for (const std::string& name : presetNames()) {
        const Specification::About about = loadPreset(name).specification.about;
        if (json) {
            print({{"name", name},
                   {"title", about.title},
                   {"teaches", about.teaches},
                   {"evidence", about.evidence},
                   {"minutes", about.minutes}});
        } else {
            const std::string time = about.minutes > 0 ? durationText(60 * about.minutes) : "-";
            std::cout << std::left << std::setw(18) << name << std::setw(15) << time << about.teaches << "\n";
        }
    }
    return 0;
}

int describeCommand(const std::string& what, bool markdown) {
    if (what.empty() || markdown) {
        std::cout << (markdown ? fieldsAsMarkdown() : toToml(Specification{}));
        return 0;
    }
    const Specification specification = loadSpecification(what);
    requireValid(specification, what);
    std::cout << "# " << costText(costOf(specification)) << "\n" << toToml(specification);
    return 0;
}

int sampleCommand(const std::string& task, const std::vector<std::string>& settings, std::int64_t count,
                  std::uint64_t seed) {
    const ExitOnClosedOutput exit_on_closed_output;
    Specification specification;
    findField("task.name").set(specification, task);
    for (const std::string& setting : settings)
        applySetting(specification, setting);
    requireValid(specification, "--set");
    const std::unique_ptr<Task> made =
        openTask(specification.task, {[](const std::string& line) { std::cerr << line << "\n"; }, {}});
    for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint64_t>(i);
        std::cout << (made->hasProblems() ? made->problem(seed, Stream::problems, index).text()
                                          : made->sequence(seed, Stream::validation, index,
                                                           static_cast<int>(specification.training.length)))
                  << "\n";
    }
    return 0;
}

int serveCommand(const CheckpointOptions& options, bool with_parent) {
    ServeOptions serve;
    serve.announce = [&](const std::string& socket, std::int64_t step) {
        if (!options.json) {
            std::cout << socket << std::endl;
            return flushStdout();
        }
        nlohmann::ordered_json line = {{"event", "listening"}, {"socket", socket}};
        if (step >= 0) line["step"] = step;
        print(line);
        flushStdout();
    };
    std::optional<ParentWatch> parent;
    if (with_parent) parent.emplace();
    serve.should_continue = [&] { return !parent || !parent->hasExited(); };
    auto last_report = std::chrono::steady_clock::now();
    if (options.json)
        serve.progress = [&](std::int64_t done, std::int64_t all, const std::string& counted) {
            constexpr auto kReportInterval = std::chrono::milliseconds(50);
            const auto now = std::chrono::steady_clock::now();
            if (now - last_report < kReportInterval) return;
            last_report = now;
            print({{"event", "progress"}, {"done", done}, {"all", all}, {"counted", counted}});
        };
    if (isPretrainedModel(options.run)) {
        if (options.step)
            throw Error(ErrorKind::usage,
                        "--step selects a checkpoint of a run; this model has no checkpoints");
        servePublished(options.run, serve);
    } else {
        if (options.device != CheckpointOptions().device && options.device != "auto")
            throw Error(ErrorKind::usage, "models are read on the CPU: leave out --device " + options.device);
        serveRun(findRun(options.run, options.runs), options.step, serve);
    }
    return 0;
}

}  // namespace roper
