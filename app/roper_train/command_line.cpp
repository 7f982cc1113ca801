#include "app/roper_train/command_line.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>

#include "app/command_help/command_table.h"
#include "app/command_help/command_texts.h"
#include "app/command_help/number_checks.h"
#include "core/base/console.h"
#include "core/base/error.h"
#include "core/base/this_process.h"
#include "core/tasks/task_kind.h"

// Commands for one run and its model; those for many runs are in command_line_experiments.cpp.

namespace roper {
namespace {

/// The tasks whose problems are generated; the text task reads a file instead.
std::vector<std::string> sampledTasks() {
    std::vector<std::string> names;
    for (const TaskKind& kind : taskKinds())
        if (!kind.is_text) names.push_back(kind.name);
    return names;
}

/// "addition: step-by-step addition; index: …" for sampledTasks().
std::string tasksHelp() {
    std::string help;
    for (const TaskKind& kind : taskKinds())
        if (!kind.is_text) help += (help.empty() ? "" : "; ") + kind.name + ": " + kind.help;
    return help;
}

}  // namespace

CommandLine::CommandLine() {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", versionLine("roper-train"));
    app_.failure_message(explainParseError);
    addRun();
    addResume();
    addFollow();
    addList();
    addPresets();
    addDescribe();
    addSample();
    addEval();
    addExport();
    addServe();
    addLook();
    addRotation();
    addModels();
    addFamilies();
    addTokens();
    addEnqueue();
    addQueue();
    addSweep();
    addWork();
    addCompare();
    addMethods();
    addPrecision();
    addDiff();
    addBoard();
    addBench();
    addImport();
    addTrust();
    addCompletion();
    addMan();
    requireWholeNumbers(app_);
    // Set after the commands are added, since they would inherit it.
    app_.footer(
        "Examples:\n"
        "  roper-train run copy-quick --seed 1\n"
        "  roper-train run addition-quick --set model.position=rope --steps 500 --name mine\n"
        "  roper-train enqueue copy-quick --seeds 0-4 --twins && roper-train queue\n"
        "  roper-train compare --filter preset=copy-quick\n"
        "  roper-train list --json | jq -r 'select(.state == \"finished\") | .name'\n"
        "  source <(roper-train completion bash)");
    setValuePlaceholders(app_, {{"run", "RUN"},
                                {"runs", "RUN"},
                                {"what", "PRESET"},
                                {"--preset", "PRESET"},
                                {"--set", "KEY=VALUE"},
                                {"--device", typeWithChoices("DEVICE", {"auto", "cpu", "cuda"})},
                                {"--runs", "FOLDER"},
                                {"folder", "FOLDER"},
                                {"--out", "FILE"},
                                {"--csv", "FILE"},
                                {"--markdown", "FILE"},
                                {"file", "FILE"},
                                {"sweep", "FILE"}});
}

int runCommandLine(int argc, char** argv) {
    const TerminalOutputFilter clean_output;
    return runReportingErrors("roper-train", [&] { return CommandLine().parseAndRun(argc, argv); });
}

void exitProgram(int code) {
#ifdef ROPER_SANITIZED
    std::exit(code);
#else
    std::cout.flush();
    std::fflush(nullptr);
    std::_Exit(code);
#endif
}

int CommandLine::parseAndRun(int argc, char** argv) {
    try {
        app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app_.exit(error, std::cout, std::cerr);
        return code == 0 ? 0 : static_cast<int>(ErrorKind::usage);
    }
    reportRunsFolder();
    read_.runs = runs_;
    return action_();
}

/// Prints the runs folder if no option or variable names it, since it depends on the working directory.
void CommandLine::reportRunsFolder() const {
    const CLI::Option* runs = app_.get_subcommands().front()->get_option_no_throw("--runs");
    const bool was_named = runs == nullptr || runs->count() > 0 || !isDefaultRunsFolderRelative();
    const auto isPath = [](const std::string& name) {
        return name.find('/') != std::string::npos || name.ends_with(".json");
    };
    const bool is_path =
        isPath(read_.run) || isPath(look_.model.string()) || isPath(tokens_.model.string()) ||
        (!rotation_.models.empty() &&
         std::ranges::all_of(rotation_.models,
                             [&](const std::filesystem::path& model) { return isPath(model.string()); }));
    if (was_named || is_path || flags_.quiet || background_) return;
    std::cerr << "runs folder: " << std::filesystem::absolute(runs_).string() << "\n";
}

CLI::App* CommandLine::command(const std::string& name, const std::string& help) {
    return app_.add_subcommand(name, help);
}

void CommandLine::addRunsFolder(CLI::App* command) {
    command->add_option("--runs", runs_, "Folder of the runs (default: $ROPER_LAB_RUNS, else ./runs)");
}

void CommandLine::addCheckpointOptions(CLI::App* command) {
    command->add_option("run", read_.run, "Name or path of a run")->required();
    command->add_option("--step", read_.step, "Step of the checkpoint (default: the newest)");
    command->add_option("--device", read_.device, "Device: auto, cpu, cuda or cuda:N");
    addRunsFolder(command);
}

void CommandLine::addProcesses(CLI::App* command) {
    command
        ->add_option(
            "--processes", session_.processes,
            "Number of processes that train the run together, each on a part of every batch; on GPUs, "
            "one per GPU. They are started by this command, or all by srun")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1024}));
}

void CommandLine::addFollow() {
    CLI::App* follow =
        command("follow",
                "Join a run that several processes train (used by the first process, which passes a "
                "shared secret on stdin)");
    follow->add_option("at", follow_.at, "HOST:PORT of the first process")->required();
    follow->add_option("--rank", follow_.rank, "Rank of this process, from 1")->required();
    follow->add_option("--of", follow_.size, "Number of processes")->required();
    follow->add_option("--with-parent", follow_.parent, "End when this process (the parent) ends");
    setAction(follow, [this] { return followCommand(follow_); });
}

void CommandLine::addRun() {
    CLI::App* run = command("run", "Train a new run from a preset or a specification");
    run->add_option("what", run_.what, "Name of a preset, or path of a specification (.toml)")->required();
    run->add_option("--set", run_.settings,
                    "Set a field (`roper-train describe` lists them): key=value; repeatable")
        ->allow_extra_args(false);
    run->add_option("--name", run_.name, "Name of the run's folder");
    run->add_option("--steps", run_.steps, "Same as --set training.steps=N");
    run->add_option("--seed", run_.seed, "Set both data_seed and model_seed");
    run->add_option("--device", run_.device, "Device: auto, cpu, cuda or cuda:N");
    run->add_option("--threads", run_.threads, "CPU threads");
    run->add_flag("--anyway", session_.ignore_memory_estimate,
                  "Start even if the memory estimate exceeds free memory");
    addProcesses(run);
    addRunsFolder(run);
    flags_.addTo(run);
    setAction(run, [this] {
        run_.runs = runs_;
        run_.verbosity = flags_.verbosity();
        run_.session = session_;
        return runCommand(run_);
    });
}

void CommandLine::addResume() {
    CLI::App* resume =
        command("resume", "Continue training a run that has ended, from its newest checkpoint");
    resume->add_option("run", read_.run, "Name or path of a run")->required();
    addRunsFolder(resume);
    flags_.addTo(resume);
    resume->add_option("--expected-sha256", session_.specification,
                       "Expected SHA-256 of run.toml; any other specification is refused");
    resume->add_option("--device", session_.device,
                       "Device, instead of the specification's: auto, cpu, cuda or cuda:N");
    resume->add_option("--threads", session_.threads, "CPU threads, instead of the specification's")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
    resume->add_flag("--anyway", session_.ignore_memory_estimate,
                     "Start even if the memory estimate exceeds free memory");
    addProcesses(resume);
    resume->add_flag("--background", background_,
                     "Used by the window: lower priority, no output unless it fails");
    setAction(resume, [this] {
        if (background_ && ::nice(10) == -1) std::cerr << "the priority could not be lowered\n";
        const auto verbosity = background_ ? Verbosity::quiet : flags_.verbosity();
        return resumeCommand(read_.run, runs_, session_, verbosity);
    });
}

void CommandLine::addList() {
    CLI::App* list = command("list", "List the runs in a folder");
    CLI::Option* json = list->add_flag("--json", read_.json, "One JSON object per line, with all numbers");
    list->add_flag("--names", names_, "Names only, one per line")->excludes(json);
    addRunsFolder(list);
    setAction(list, [this] { return names_ ? listNamesCommand(runs_) : listCommand(runs_, read_.json); });
}

void CommandLine::addPresets() {
    CLI::App* presets =
        command("presets", "List the bundled presets: name, time on two cores, what each shows");
    CLI::Option* json = presets->add_flag("--json", read_.json, "One JSON object per line");
    presets->add_flag("--names", names_, "Names only, one per line")->excludes(json);
    setAction(presets, [this] { return names_ ? presetNamesCommand() : presetsCommand(read_.json); });
}

void CommandLine::addDescribe() {
    CLI::App* describe =
        command("describe", "Show all fields of a preset or specification; without a name, the defaults");
    describe->add_option("what", run_.what, "Name of a preset, or path of a specification (.toml)");
    describe->add_flag("--markdown", markdown_, "Print the table of all fields, as in docs/specification.md");
    describe->add_flag("--keys", keys_,
                       "Print the keys of all fields, as --set takes them: key=, one per line");
    describe
        ->add_option("--values", key_,
                     "Print the values that a field accepts, one per line, if they can be listed")
        ->type_name("KEY");
    setAction(describe, [this] {
        if (!key_.empty()) return valuesCommand(key_);
        return keys_ ? keysCommand() : describeCommand(run_.what, markdown_);
    });
}

void CommandLine::addSample() {
    CLI::App* sample = command("sample", "Print problems of a task, one per line");
    sample->add_option("task", task_, tasksHelp())
        ->required()
        ->type_name(typeWithChoices("TASK", sampledTasks()));
    sample->add_option("--count", count_, "Number of problems")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000000}));
    sample->add_option("--seed", seed_, "Seed of the problems")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
    sample->add_option("--set", run_.settings, "Set a field: key=value; repeatable")->allow_extra_args(false);
    setAction(sample, [this] {
        return sampleCommand(task_, run_.settings, count_, static_cast<std::uint64_t>(seed_.value_or(0)));
    });
}

void CommandLine::addEval() {
    CLI::App* eval = command("eval", "Evaluate a checkpoint of a run on fresh problems");
    addCheckpointOptions(eval);
    eval->add_option(
            "--problems", eval_.evaluation.problems,
            "Number of problems; with --by-size, of each size; for a text, number of sequences of the "
            "training length (other lengths read the same part of the text)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{65536}));
    eval->add_option("--seed", eval_.evaluation.seed, "Seed of the problems (default: the run's data seed)")
        ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
    eval->add_option("--temperature", eval_.evaluation.temperature,
                     "Sampling temperature; 0: always the most likely token")
        ->check(numberInRange(0, 100));
    CLI::Option* length =
        eval->add_option("--length", eval_.lengths,
                         "Sequence length for the loss, in tokens (default: as in training), or several: "
                         "64,128,256")
            ->delimiter(',')
            ->check(CLI::Range(std::int64_t{2}, std::int64_t{1048576}));
    CLI::Option* by_size =
        eval->add_flag("--by-size", eval_.by_size,
                       "Count the problems solved for each size, such as the digits of both operands")
            ->excludes(length);
    eval->add_option("--largest", eval_.evaluation.largest,
                     "With --by-size: largest size, in digits or letters; may exceed that of training")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000}))
        ->needs(by_size);
    CLI::Option* by_position =
        eval->add_flag("--by-position", eval_.by_position, "Loss at each position of the sequences")
            ->excludes(by_size);
    eval->add_flag("--keep", eval_.keep, "Also append to the run's sizes.csv, positions.csv or lengths.csv");
    eval->add_option("--scaling", eval_.scaling,
                     "Scale the frequencies: none, linear, ntk, dynamic, yarn, llama3, longrope or p-rope")
        ->check(CLI::IsMember(allNames<ScalingMethod>()));
    eval->add_option("--factor", eval_.evaluation.scaling.factor,
                     "Scaling factor s; the original length L is training.length - 1, the number of input "
                     "positions in training")
        ->check(numberInRange(1, 10000));
    eval->add_option(
            "--long-factors", eval_.long_factors,
            "For longrope: divisors of the pairs' frequencies in texts longer than the training length, "
            "fastest pair first, such as 1,1.5,4,8; interpolated if there are more or fewer pairs")
        ->delimiter(',')
        ->check(numberInRange(0.001, 1e6));
    eval->add_option("--proportion", eval_.evaluation.scaling.proportion,
                     "Fraction of the pairs that p-rope rotates")
        ->check(numberInRange(0, 1));
    eval->add_option("--out", eval_.out, "Also write the generated texts to this .jsonl file")
        ->excludes(by_size)
        ->excludes(by_position);
    eval->add_flag("--json", read_.json, "Print JSON; with several lengths, one object per line");
    setAction(eval, [this] { return evalCommand(read_, eval_); });
}

void CommandLine::addExport() {
    CLI::App* out = command("export", "Export attention, vector norms, logits, weights or metrics of a run");
    addCheckpointOptions(out);
    out->add_option(
           "--what", what_,
           "attention, norms, logits, weights, metrics; or huggingface, a folder that transformers reads")
        ->required()
        ->check(CLI::IsMember({"attention", "norms", "logits", "weights", "metrics", "huggingface"}));
    out->add_option("--text", text_, "Text for attention, norms or logits");
    out->add_option("--out", out_,
                    "File to write: .safetensors, or .csv for attention, norms and metrics; a new folder for "
                    "huggingface")
        ->required();
    out->add_option(
           "--precision", precision_,
           "Precision of attention, norms and logits, whatever the precision of training: fp32, or bf16, "
           "rounded as in docs/run-folder.md")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    setAction(out, [this] { return exportCommand(read_, what_, text_, out_, precision_); });
}

void CommandLine::addServe() {
    CLI::App* serve = command(
        "serve", "Answer questions about a run that is not training, or a published model, on a socket");
    addCheckpointOptions(serve);
    serve->get_option("run")->description("Run, by its name or path, or path of a published model");
    serve->add_flag("--with-parent", with_parent_, "End when stdin is closed");
    serve->add_flag("--json", read_.json, "Print the socket's path as a JSON object");
    setAction(serve, [this] { return serveCommand(read_, with_parent_); });
}

void CommandLine::addTrust() {
    CLI::App* trust =
        command("trust", "Trust someone else's runs folder: allow writing into it and training its queue");
    trust->add_option("folder", out_, "Folder of runs")->required();
    setAction(trust, [this] { return trustCommand(out_); });
}

void CommandLine::addCompletion() {
    CLI::App* completion = command("completion", "Print a script that completes commands, options and names");
    completion->add_option("shell", shell_, "Shell that runs the script")
        ->required()
        ->check(CLI::IsMember(completionShells()));
    setAction(completion, [this] {
        std::cout << completionScript(describeCommands(app_), shell_);
        return 0;
    });
}

void CommandLine::addMan() {
    CLI::App* man = command("man", "Print the manual page, for man(1)");
    setAction(man, [this] {
        std::cout << manPage(describeCommands(app_), programVersion());
        return 0;
    });
}

}  // namespace roper
