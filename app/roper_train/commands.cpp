#include "app/roper_train/commands.h"

#include <poll.h>
#include <unistd.h>

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/corpus/open_task.h"
#include "core/runs/cost.h"
#include "core/runs/durable_file.h"
#include "core/runs/error.h"
#include "core/runs/presets.h"
#include "core/runs/run_recorder.h"
#include "core/runs/text.h"
#include "core/training/session.h"

namespace roper {

namespace fs = std::filesystem;

namespace {

int exitCodeOf(RunState state) {
    return state == RunState::preempted ? static_cast<int>(ErrorKind::preempted) : 0;
}

bool speaksToPeople(Telling telling) {
    return telling == Telling::bar || telling == Telling::lines;
}

int train(const RunFolder& folder, Telling telling, const SessionOptions& session = {}) {
    Progress progress(telling);
    if (speaksToPeople(telling)) std::cerr << folder.path().string() << "\n";
    const RunState state = trainRun(folder, progress, session);
    if (telling == Telling::json)
        std::cout << nlohmann::ordered_json{{"event", "end"}, {"state", stateName(state)}}.dump()
                  << std::endl;
    if (state != RunState::finished && speaksToPeople(telling))
        std::cerr << "\n"
                  << stateName(state) << "; continue with `roper-train resume " << folder.path().string()
                  << "`\n";
    return exitCodeOf(state);
}

struct RunSummary {
    std::string name, state;
    std::int64_t step = 0, steps = 0;
    std::string last;
};

RunSummary summarize(const RunFolder& run) {
    RunSummary summary{run.name(), "unreadable", 0, 0, ""};
    try {
        const Status status = run.status();
        summary.state = stateName(trueState(status));
        const auto metrics = run.metrics();
        const auto evaluations = run.evaluations();
        summary.step = metrics.empty() ? status.step : std::max(status.step, metrics.back().step);
        summary.steps = status.steps;
        if (!evaluations.empty()) summary.last = evaluationText(evaluations.back());
        if (!status.error.empty()) summary.last = status.error;
    } catch (const Error& error) {
        summary.last = error.what();
    }
    return summary;
}

/// The factor that rows of a scaling are kept with.
double factorOf(const Scaling& scaling) {
    return scaling.method == ScalingMethod::none ? 1.0 : scaling.factor;
}

std::vector<SizeRow> sizeRows(const SizeScores& scores) {
    std::vector<SizeRow> rows;
    for (const SizeScore& score : scores.scores)
        rows.push_back({scores.step, std::string(scalingName(scores.scaling.method)),
                        factorOf(scores.scaling), score.size.first, score.size.second, score.correct,
                        score.of});
    return rows;
}

int printScoresBySize(const SizeScores& scores, bool json) {
    if (json) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const SizeScore& score : scores.scores)
            list.push_back({score.size.first, score.size.second, score.correct, score.of});
        std::cout
            << nlohmann::ordered_json{{"step", scores.step}, {"names", scores.names}, {"scores", list}}.dump()
            << "\n";
        return 0;
    }
    std::cout << join(scores.names, ",") << ",correct,of\n";
    for (const SizeScore& score : scores.scores)
        std::cout << score.size.first << "," << score.size.second << "," << score.correct << "," << score.of
                  << "\n";
    return 0;
}

void evaluateByPosition(const RunFolder& folder, const ReadingOptions& reading, const EvalOptions& eval,
                        bool json) {
    const PositionLosses losses = lossByPosition(folder, reading, eval.asked);
    std::vector<PositionRow> rows;
    for (std::size_t t = 0; t < losses.losses.size(); ++t)
        rows.push_back({losses.step, eval.scaling, factorOf(eval.asked.scaling), losses.length,
                        static_cast<std::int64_t>(t), losses.losses[t]});
    if (eval.keep) savePositions(folder, rows);
    if (json) {
        std::cout << nlohmann::ordered_json{{"step", losses.step},
                                            {"length", losses.length},
                                            {"losses", losses.losses}}
                         .dump()
                  << "\n";
        return;
    }
    std::cout << kPositionsHeader << "\n";
    for (const PositionRow& row : rows)
        std::cout << formatRow(row) << "\n";
}

void evaluateAtLength(const RunFolder& folder, const ReadingOptions& reading, const EvalOptions& eval,
                      bool json) {
    const RunEvaluation evaluation = evaluateRun(folder, reading, eval.asked);
    const EvaluationRow& row = evaluation.row;
    if (eval.keep && row.loss && !row.correct)
        saveLength(folder, {row.step, eval.scaling, factorOf(eval.asked.scaling),
                            eval.asked.length.value_or(folder.specification().training.length), *row.loss,
                            row.recalled.value_or(0), row.recallable.value_or(0)});
    if (!eval.out.empty()) {
        std::string lines;
        for (const Sample& sample : evaluation.samples)
            lines += formatSample(sample) + "\n";
        writeFileAtomically(eval.out, lines);
    }
    if (json) {
        std::cout << evaluationJson(row).dump() << "\n";
        return;
    }
    std::cout << "step " << row.step;
    if (eval.lengths.size() > 1) std::cout << ", " << *eval.asked.length << " tokens";
    std::cout << ": " << evaluationText(row) << "\n";
}

}  // namespace

Specification namedSpecification(const std::string& what) {
    const bool is_path = what.ends_with(".toml") || what.find('/') != std::string::npos;
    if (!is_path) return loadPreset(what).specification;
    std::error_code unreadable;
    if (!fs::exists(what, unreadable))
        throw Error(ErrorKind::usage,
                    "there is no file " + what + "; `roper-train presets` lists the bundled ones");
    const std::string text = readFile(what);
    const Specification specification = parseSpecification(text, what);
    if (text.find('=') == std::string::npos)
        throw Error(ErrorKind::usage,
                    what + " sets no field; `roper-train describe` prints one with every default");
    return specification;
}

int runCommand(const RunOptions& options) {
    Specification specification = namedSpecification(options.what);
    for (const std::string& setting : options.settings)
        applySetting(specification, setting);
    const auto set = [&](const char* key, const std::string& value) {
        if (!value.empty()) applySetting(specification, std::string(key).append("=").append(value));
    };
    set("training.steps", options.steps);
    set("training.data_seed", options.seed);
    set("training.model_seed", options.seed);
    set("device.threads", options.threads);
    set("device.name", options.device);
    // A preset that is cut short by --steps keeps as much of its warm-up as fits.
    if (!options.steps.empty())
        specification.training.warmup_steps =
            std::min(specification.training.warmup_steps, specification.training.steps);
    requireValid(specification, options.what);
    return train(createRun(options.runs, options.name, specification), options.telling);
}

int resumeCommand(const std::string& run, const fs::path& runs, const SessionOptions& session,
                  Telling telling) {
    const RunFolder folder = findRun(run, runs);
    const Status status = folder.status();
    if (status.state == RunState::finished) {
        std::cerr << folder.path().string() << " is finished (" << status.step
                  << " steps); nothing to resume.\n";
        return 0;
    }
    if (status.step > 0 && folder.checkpoints().empty() && telling != Telling::quiet)
        std::cerr << "no checkpoint was written yet; it begins again at step 1\n";
    return train(folder, telling, session);
}

int listCommand(const fs::path& runs, bool json) {
    std::size_t widest = 4;
    std::vector<RunSummary> all;
    for (const RunFolder& run : listRuns(runs)) {
        all.push_back(summarize(run));
        widest = std::max(widest, all.back().name.size());
    }
    if (all.empty() && !json) std::cerr << "no runs in " << runs.string() << "\n";
    for (const RunSummary& run : all) {
        if (json) {
            std::cout << nlohmann::ordered_json{{"name", run.name},
                                                {"state", run.state},
                                                {"step", run.step},
                                                {"steps", run.steps},
                                                {"last", run.last}}
                             .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                      << "\n";
        } else {
            std::cout << std::left << std::setw(static_cast<int>(widest) + 2) << run.name << std::setw(13)
                      << run.state << std::right << std::setw(8) << run.step << "/" << std::left
                      << std::setw(8) << run.steps << run.last << "\n";
        }
    }
    return 0;
}

int presetsCommand(bool json) {
    for (const std::string& name : presetNames()) {
        const Specification::About about = loadPreset(name).specification.about;
        if (json) {
            std::cout << nlohmann::ordered_json{{"name", name},
                                                {"title", about.title},
                                                {"teaches", about.teaches},
                                                {"minutes", about.minutes}}
                             .dump()
                      << "\n";
        } else {
            const std::string time = about.minutes > 0 ? durationText(60 * about.minutes) : "-";
            std::cout << std::left << std::setw(18) << name << std::setw(13) << time << about.teaches << "\n";
        }
    }
    return 0;
}

int describeCommand(const std::string& what, bool markdown) {
    if (what.empty() || markdown) {
        std::cout << (markdown ? fieldsAsMarkdown() : toToml(Specification{}));
        return 0;
    }
    const Specification specification = namedSpecification(what);
    requireValid(specification, what);
    std::cout << "# " << costText(costOf(specification)) << "\n" << toToml(specification);
    return 0;
}

int sampleCommand(const std::string& task, const std::vector<std::string>& settings, std::int64_t count,
                  std::uint64_t seed) {
    Specification specification;
    setField(findField("task.name"), specification, task);
    for (const std::string& setting : settings)
        applySetting(specification, setting);
    requireValid(specification, "--set");
    const std::unique_ptr<Task> made = openTask(specification.task);
    for (std::int64_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint64_t>(i);
        std::cout << (made->hasProblems() ? made->problem(seed, Stream::problems, index).text()
                                          : made->sequence(seed, Stream::validation, index,
                                                           static_cast<int>(specification.training.length)))
                  << "\n";
    }
    return 0;
}

int evalCommand(const ReadOptions& options, EvalOptions eval) {
    const RunFolder folder = findRun(options.run, options.runs);
    const ReadingOptions reading{options.step, options.device};
    const auto name = std::find(kScalingNames.begin(), kScalingNames.end(), eval.scaling);
    eval.asked.scaling.method = kScalingMethods.at(static_cast<std::size_t>(name - kScalingNames.begin()));
    if (eval.by_size) {
        const SizeScores scores = evaluateRunBySize(folder, reading, eval.asked);
        if (eval.keep) saveSizes(folder, sizeRows(scores));
        return printScoresBySize(scores, options.json);
    }
    const auto evaluate = [&] {
        if (eval.by_position)
            evaluateByPosition(folder, reading, eval, options.json);
        else
            evaluateAtLength(folder, reading, eval, options.json);
    };
    if (eval.lengths.empty()) evaluate();
    for (const std::int64_t length : eval.lengths) {
        eval.asked.length = length;
        evaluate();
    }
    return 0;
}

int serveCommand(const ReadOptions& options, bool with_parent) {
    const auto announce = [&](const std::string& socket, std::int64_t step) {
        if (options.json)
            std::cout
                << nlohmann::ordered_json{{"event", "listening"}, {"socket", socket}, {"step", step}}.dump()
                << std::endl;
        else
            std::cout << socket << std::endl;
    };
    const auto goes_on = [&] {
        if (!with_parent) return true;
        pollfd input{STDIN_FILENO, POLLIN, 0};
        if (::poll(&input, 1, 0) <= 0) return true;
        char byte;
        return ::read(STDIN_FILENO, &byte, 1) > 0;
    };
    serveRun(findRun(options.run, options.runs), {options.step, options.device}, announce, goes_on);
    return 0;
}

int exportCommand(const ReadOptions& options, const std::string& what, const std::string& text,
                  const fs::path& out) {
    const std::string suffix = out.extension().string();
    const bool fits = what == "metrics"                        ? suffix == ".csv"
                      : what == "attention" || what == "norms" ? suffix == ".csv" || suffix == ".safetensors"
                                                               : suffix == ".safetensors";
    if (!fits)
        throw Error(ErrorKind::usage, what + " is written as " +
                                          (what == "metrics"                        ? ".csv"
                                           : what == "attention" || what == "norms" ? ".safetensors or .csv"
                                                                                    : ".safetensors") +
                                          ", not as \"" + out.string() + "\"");
    const RunFolder folder = findRun(options.run, options.runs);
    if (what == "attention") {
        exportAttention(folder, {options.step, options.device}, text, out);
    } else if (what == "norms") {
        exportNorms(folder, {options.step, options.device}, text, out);
    } else if (what == "logits") {
        exportLogits(folder, {options.step, options.device}, text, out);
    } else if (what == "weights") {
        exportWeights(folder, {options.step, options.device}, out);
    } else {
        std::string csv(kMetricsHeader);
        for (const MetricsRow& row : folder.metrics())
            csv += "\n" + formatRow(row);
        writeFileAtomically(out, csv + "\n");
    }
    std::cerr << "wrote " << out.string() << "\n";
    return 0;
}

}  // namespace roper
