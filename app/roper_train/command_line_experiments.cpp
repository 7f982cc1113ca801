#include <limits>

#include "app/command_help/command_table.h"
#include "app/command_help/number_checks.h"
#include "app/roper_train/command_line.h"
#include "core/base/text.h"

// Commands for many runs, and for the machine.

namespace roper {

void CommandLine::addEnqueue() {
    CLI::App* enqueue = command("enqueue", "Put runs into the queue, one for each seed");
    enqueue->add_option("what", enqueue_.what, "Name of a preset, or path of a specification (.toml)")
        ->required();
    enqueue->add_option("--seeds", enqueue_.seeds, "Seeds, such as 0-4 or 1,5,9");
    enqueue->add_flag("--twins", enqueue_.twins,
                      "Queue twins for each seed: a run with RoPE and one with RoPER");
    enqueue->add_option("--set", enqueue_.settings, "Set a field: key=value; repeatable")
        ->allow_extra_args(false);
    addRunsFolder(enqueue);
    setAction(enqueue, withRuns(enqueue_, enqueueCommand));
}

void CommandLine::addQueue() {
    CLI::App* queue = command("queue", "Train the runs in the queue until it is empty");
    addRunsFolder(queue);
    queue->add_flag("--background", background_, "Used by the window: no output");
    setAction(queue, [this] { return queueCommand(runs_, background_); });
}

void CommandLine::addSweep() {
    CLI::App* sweep =
        command("sweep", "Train the missing runs of a sweep, a file with a grid of settings and seeds");
    sweep->add_option("sweep", sweep_.sweep, "A .toml file, or the name of a bundled sweep")->required();
    CLI::Option* jobs =
        sweep->add_option("--jobs", sweep_.max_trainers, "Number of trainers at the same time")
            ->check(CLI::Range(1, 256));
    CLI::Option* only =
        sweep->add_option("--only", sweep_.only, "Train only the run with this index, counted from 0")
            ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
    CLI::Option* slurm =
        sweep->add_flag("--slurm", sweep_.use_slurm, "Submit the missing runs to Slurm, as job arrays")
            ->excludes(jobs, only);
    SlurmOptions& to = sweep_.slurm;
    sweep->add_option("--partition", to.partition, "With --slurm: partition")->needs(slurm);
    sweep->add_option("--gres", to.gres, "With --slurm: generic resources per array task, such as gpu:1")
        ->needs(slurm);
    sweep->add_option("--time", to.time, "With --slurm: time limit per array task, such as 2:00:00")
        ->needs(slurm);
    sweep->add_option("--at-once", to.at_once, "With --slurm: number of array tasks at the same time")
        ->check(CLI::Range(1, 100000))
        ->needs(slurm);
    sweep->add_option("--pack", to.pack, "With --slurm: runs per array task, trained one after the other")
        ->check(CLI::Range(1, 10000))
        ->needs(slurm);
    sweep->add_option("--sbatch", to.more, "With --slurm: another sbatch option, such as --account=NAME")
        ->allow_extra_args(false)
        ->needs(slurm);
    sweep
        ->add_option(
            "--program", to.program,
            "With --slurm: command that starts the trainer on a node, such as \"apptainer exec lab.sif "
            "roper-train\" (default: this program's path)")
        ->needs(slurm);
    sweep->add_flag("--dry-run", sweep_.dry_run, "With --slurm: print the batch script, submit nothing")
        ->needs(slurm);
    CLI::Option* status = sweep
                              ->add_flag("--status", sweep_.show_status,
                                         "Show the state of each run, including Slurm's array tasks")
                              ->excludes(slurm, jobs, only);
    sweep->add_flag("--json", sweep_.json, "With --status: one JSON object per run")->needs(status);
    sweep->add_flag("--cancel", sweep_.cancel, "Cancel the sweep's Slurm jobs")
        ->excludes(slurm, status, jobs, only);
    addRunsFolder(sweep);
    setAction(sweep, withRuns(sweep_, sweepCommand));
}

void CommandLine::addWork() {
    CLI::App* work = command("work", "Train the runs of one Slurm array task (called by the batch script)");
    work->add_option("submission", submission_, "RUNS/slurm/NAME.json, written by `sweep --slurm`")
        ->required();
    work->add_option("--array-task", array_task_,
                     "Index of the array task, from 0 (default: SLURM_ARRAY_TASK_ID)")
        ->check(CLI::NonNegativeNumber);
    work->add_option("--holds", expected_fingerprint_,
                     "Expected SHA-256 of the submission's runs, from the batch script");
    setAction(work, [this] { return workCommand(submission_, array_task_, expected_fingerprint_); });
}

namespace {

CLI::Option* addMeasure(CLI::App* command, std::string& measure, const std::string& help) {
    return command->add_option("--measure", measure, help)
        ->type_name(typeWithChoices("MEASURE", mapped(measures(), &MeasureInfo::name)));
}

CLI::Option* addShare(CLI::App* command, double& solved_fraction) {
    return command
        ->add_option("--share", solved_fraction, "For steps_until: fraction of problems to be solved")
        ->check(numberInRange(0, 1));
}

}  // namespace

void CommandLine::addFilter(CLI::App* command, std::string& filter) {
    addRunsFolder(command);
    command->add_option("--filter", filter, "Search terms, or comparisons such as \"seed<5 width=128\"");
}

void CommandLine::addCompare() {
    CLI::App* compare = command(
        "compare", "Compare two groups of runs seed by seed; the runs of a group differ only in their seeds");
    addFilter(compare, compare_.filter);
    CLI::Option* measure =
        addMeasure(compare, compare_.measure, "Measure to compare (default: one that suits the runs)");
    CLI::Option* share = addShare(compare, compare_.solved_fraction);
    compare->add_flag("--all", compare_.all, "Every measure in one table")
        ->excludes(measure)
        ->excludes(share);
    compare->add_option("--a", compare_.a, "Label of the first group, or part of it (default: RoPE)");
    compare->add_option("--b", compare_.b, "Label of the second group (default: RoPER)");
    compare->add_option("--csv", compare_.csv, "Also write the pairs, or with --all the table, to this file");
    compare->add_flag("--json", compare_.json, "One JSON object; with --all one per measure");
    setAction(compare, withRuns(compare_, compareCommand));
}

void CommandLine::addMethods() {
    CLI::App* methods = command(
        "methods",
        "Compare position methods with a baseline method: one row per method, columns for each preset");
    addFilter(methods, methods_.filter);
    methods->add_option("--a", methods_.reference, "Label of the baseline runs")->capture_default_str();
    addMeasure(methods, methods_.measure,
               "Measure to compare (default: the preset's, else one that suits the task)");
    addShare(methods, methods_.solved_fraction);
    methods->add_option("--csv", methods_.csv, "Also write the table to this file");
    methods->add_option("--markdown", methods_.markdown, "Also write the table to this file, as Markdown");
    setAction(methods, withRuns(methods_, methodsCommand));
}

void CommandLine::addPrecision() {
    CLI::App* precision =
        command("precision", "Test whether float32 and bfloat16 are equivalent: same settings, same seeds");
    PrecisionOptions& options = compared_precisions_;
    addFilter(precision, options.filter);
    addMeasure(precision, options.measure, "Measure to compare")->required();
    precision
        ->add_option("--bound", options.bound,
                     "Equivalence bound: largest difference that does not matter, in the measure's unit")
        ->check(positiveNumber())
        ->required();
    precision->add_option("--csv", options.csv, "Also write the table to this file");
    setAction(precision, withRuns(options, precisionCommand));
}

void CommandLine::addDiff() {
    CLI::App* diff = command("diff", "Show which settings differ between runs, and the result of each");
    diff->add_option("runs", compared_, "Names or paths of two or more runs")->required()->expected(2, 100);
    addRunsFolder(diff);
    diff->add_flag("--json", read_.json, "One JSON object");
    setAction(diff, [this] { return diffCommand(compared_, runs_, read_.json); });
}

void CommandLine::addBoard() {
    CLI::App* board = command(
        "board",
        "Show the results of the RoPER note (Harik & Jayasiri 2022) beside ours, and the missing runs");
    addRunsFolder(board);
    board->add_flag("--measure", measure_, "Measure the time per step where no run has recorded it");
    board->add_flag("--enqueue", enqueue_missing_, "Enqueue the missing runs");
    board->add_flag("--json", read_.json, "One JSON object per row and position method");
    setAction(board, [this] { return boardCommand(runs_, measure_, enqueue_missing_, read_.json); });
}

void CommandLine::addBench() {
    CLI::App* bench =
        command("bench", "Benchmark training steps, attention or cached generation, with RoPE and RoPER");
    bench
        ->add_option(
            "work", bench_.work,
            "step: training steps; attention: the attention kernel; generate: cached generation; "
            "baselines (formerly peers): steps, also of other programs; first: one step in a new process")
        ->check(CLI::IsMember({"step", "attention", "generate", "baselines", "first", "peers"}));
    bench->add_option("--preset", bench_.what,
                      "Name of a preset, or path of a specification (default: workloads A, prefix-paper, and "
                      "B, addition-paper)");
    bench->add_option("--set", bench_.settings, "Set a field: key=value; repeatable")
        ->allow_extra_args(false);
    bench
        ->add_option(
            "--times", bench_.times,
            "Repetitions (default: 200 for A, 5 for B, 20 for a preset); B is repeated a fortieth as "
            "often as A, but at least 3 times")
        ->check(CLI::Range(1, 100000));
    bench->add_option("--target", bench_.target,
                      "Instruction set of our kernels: AVX-512, AVX2, SSE4, portable");
    bench->add_flag("--remember", bench_.save_speed,
                    "Save the time per step in the runs folder, for the board");
    bench->add_flag("--json", bench_.json, "One JSON object per position method and precision");
    addRunsFolder(bench);
    setAction(bench, withRuns(bench_, benchCommand));
}

void CommandLine::addImport() {
    CLI::App* importing = command("import", "Import another program's metrics as a run");
    importing
        ->add_option("file", import_.file,
                     "CSV with a header, JSON (one object per line, an array, trainer_state.json), or "
                     "TensorBoard's events: a file, or a folder of them")
        ->required();
    importing->add_option("--name", import_.name, "Name of the run's folder");
    importing
        ->add_option(
            "--column", import_.columns,
            "Column of a field: field=column; field= leaves it out. Fields: step, loss, time_s, tokens, "
            "tokens_per_s, correct, of (problems), evaluation_loss, learning_rate, grad_norm")
        ->allow_extra_args(false);
    importing->add_option("--set", import_.settings, "Settings of the imported run: key=value")
        ->allow_extra_args(false);
    addRunsFolder(importing);
    setAction(importing, withRuns(import_, importCommand));
}

}  // namespace roper
