// roper-train: trains one run in a terminal, in the background of the window or on a server, and answers
// questions about runs. Data goes to stdout, messages to stderr; the exit codes are those of
// core/base/error.h.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>

#include "app/roper_train/bench_commands.h"
#include "app/roper_train/commands.h"
#include "app/roper_train/experiment_commands.h"
#include "core/base/error.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task_kind.h"

namespace {

/// "addition: step-by-step addition; index: …", without texts, which have no samples of their own.
std::string tasksHelp() {
    std::string help;
    for (const roper::TaskKind& kind : roper::taskKinds())
        if (!kind.is_text) help += (help.empty() ? "" : "; ") + kind.name + ": " + kind.help;
    return help;
}

struct VerbosityFlags {
    bool json = false;
    bool quiet = false;

    void addTo(CLI::App* command) {
        command->add_flag("--json", json, "One JSON object per line on stdout");
        command->add_flag("-q,--quiet", quiet, "Say nothing unless it fails");
    }
    roper::Verbosity verbosity() const {
        if (json) return roper::Verbosity::json;
        if (quiet) return roper::Verbosity::quiet;
        return ::isatty(STDERR_FILENO) ? roper::Verbosity::bar : roper::Verbosity::lines;
    }
};

class CommandLine {
  public:
    CommandLine() {
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "roper-train 0.1.0");
        addRun();
        addResume();
        addList();
        addPresets();
        addDescribe();
        addSample();
        addEval();
        addExport();
        addServe();
        addEnqueue();
        addQueue();
        addSweep();
        addCompare();
        addBoard();
        addBench();
        addImport();
    }

    /// @returns the exit code
    int parseAndRun(int argc, char** argv) {
        try {
            app_.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            const int code = app_.exit(error, std::cout, std::cerr);
            return code == 0 ? 0 : static_cast<int>(roper::ErrorKind::usage);
        }
        return action_();
    }

  private:
    CLI::App* command(const std::string& name, const std::string& help) {
        return app_.add_subcommand(name, help);
    }

    void addRunsFolder(CLI::App* command) {
        command->add_option("--runs", runs_, "Folder of the runs (default: $ROPER_LAB_RUNS, else ./runs)");
    }

    void addReading(CLI::App* command) {
        command->add_option("run", read_.run, "Name or path of a run")->required();
        command->add_option("--step", read_.step, "Step of the checkpoint (default: the newest)");
        command->add_option("--device", read_.device, "auto, cpu or cuda[:N]");
        addRunsFolder(command);
    }

    void addRun() {
        CLI::App* run = command("run", "Train a new run from a preset or a specification");
        run->add_option("what", run_.what, "Name of a preset, or path of a .toml file")->required();
        run->add_option("--set", run_.settings, "Change a field: key=value; may be given again")
            ->allow_extra_args(false);
        run->add_option("--name", run_.name, "Name of the run's folder");
        run->add_option("--steps", run_.steps, "Same as --set training.steps=N");
        run->add_option("--seed", run_.seed, "Sets data_seed and model_seed");
        run->add_option("--device", run_.device, "auto, cpu, cuda or cuda:N");
        run->add_option("--threads", run_.threads, "CPU threads");
        addRunsFolder(run);
        flags_.addTo(run);
        run->callback([this] {
            action_ = [this] {
                run_.runs = runs_;
                run_.verbosity = flags_.verbosity();
                return roper::runCommand(run_);
            };
        });
    }

    void addResume() {
        CLI::App* resume = command("resume", "Continue a run after its newest checkpoint");
        resume->add_option("run", read_.run, "Name or path of a run")->required();
        addRunsFolder(resume);
        flags_.addTo(resume);
        resume->add_option("--device", session_.device, "For this session: auto, cpu, cuda or cuda:N");
        resume->add_option("--threads", session_.threads, "For this session: CPU threads")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{4096}));
        resume->add_flag("--background", background_,
                         "For the window: at lower priority, saying nothing unless it fails");
        resume->callback([this] {
            action_ = [this] {
                if (background_ && ::nice(10) == -1) std::cerr << "the priority could not be lowered\n";
                const auto verbosity = background_ ? roper::Verbosity::quiet : flags_.verbosity();
                return roper::resumeCommand(read_.run, runs_, session_, verbosity);
            };
        });
    }

    void addList() {
        CLI::App* list = command("list", "Show the runs of a folder");
        list->add_flag("--json", read_.json, "One JSON object per line");
        addRunsFolder(list);
        list->callback([this] { action_ = [this] { return roper::listCommand(runs_, read_.json); }; });
    }

    void addPresets() {
        CLI::App* presets =
            command("presets", "Show the bundled presets: name, time on two cores, what they teach");
        presets->add_flag("--json", read_.json, "One JSON object per line");
        presets->callback([this] { action_ = [this] { return roper::presetsCommand(read_.json); }; });
    }

    void addDescribe() {
        CLI::App* describe =
            command("describe", "Show every field of a preset; without a name, the defaults");
        describe->add_option("what", run_.what, "Name of a preset, or path of a .toml file");
        describe->add_flag("--markdown", markdown_, "The table of all fields, as in docs/specification.md");
        describe->callback(
            [this] { action_ = [this] { return roper::describeCommand(run_.what, markdown_); }; });
    }

    void addSample() {
        CLI::App* sample = command("sample", "Print problems of a task, one a line");
        sample->add_option("task", task_, tasksHelp())->required();
        sample->add_option("--count", count_, "How many")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000000}));
        sample->add_option("--seed", seed_, "Seed of the stream")
            ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
        sample->add_option("--set", run_.settings, "Change a field: key=value")->allow_extra_args(false);
        sample->callback([this] {
            action_ = [this] {
                return roper::sampleCommand(task_, run_.settings, count_,
                                            static_cast<std::uint64_t>(seed_.value_or(0)));
            };
        });
    }

    void addEval() {
        CLI::App* eval = command("eval", "Ask a checkpoint of a run fresh problems");
        addReading(eval);
        eval->add_option(
                "--problems", eval_.options.problems,
                "How many; with --by-size, of every size; of a text, sequences of the training's length "
                "(other lengths read the same stretch)")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{65536}));
        eval->add_option("--seed", eval_.options.seed, "Seed of the problems (default: the run's data seed)")
            ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
        eval->add_option("--temperature", eval_.options.temperature, "0 writes the likeliest token")
            ->check(CLI::Range(0.0, 100.0));
        CLI::Option* length =
            eval->add_option(
                    "--length", eval_.lengths,
                    "Tokens of the sequences that the loss is taken on (default: as in training); several as "
                    "64,128,256")
                ->delimiter(',')
                ->check(CLI::Range(std::int64_t{2}, std::int64_t{1048576}));
        CLI::Option* by_size =
            eval->add_flag("--by-size", eval_.by_size, "Problems of every size: digits, or letters and index")
                ->excludes(length);
        eval->add_option("--largest", eval_.options.largest,
                         "With --by-size: digits or letters up to this, also beyond those of training")
            ->check(CLI::Range(std::int64_t{1}, std::int64_t{10000}))
            ->needs(by_size);
        CLI::Option* by_position =
            eval->add_flag("--by-position", eval_.by_position, "Loss of each position of the sequences")
                ->excludes(by_size);
        eval->add_flag("--keep", eval_.keep,
                       "Also write to the run's sizes.csv, positions.csv or, otherwise, lengths.csv");
        eval->add_option("--scaling", eval_.scaling,
                         "Scale the frequencies: none, linear, ntk, dynamic, yarn, llama3 or p-rope")
            ->check(CLI::IsMember(
                std::vector<std::string>(roper::kScalingNames.begin(), roper::kScalingNames.end())));
        eval->add_option("--factor", eval_.options.scaling.factor, "s of the scaling")
            ->check(CLI::Range(1.0, 1000.0));
        eval->add_option("--proportion", eval_.options.scaling.proportion,
                         "Share of the pairs that p-rope rotates")
            ->check(CLI::Range(0.0, 1.0));
        eval->add_option("--out", eval_.out, "Also write what the model wrote to this .jsonl file")
            ->excludes(by_size)
            ->excludes(by_position);
        eval->add_flag("--json", read_.json, "One JSON object a length");
        eval->callback([this] {
            action_ = [this] {
                read_.runs = runs_;
                return roper::evalCommand(read_, eval_);
            };
        });
    }

    void addExport() {
        CLI::App* out = command("export", "Write what is inside a run to a file");
        addReading(out);
        out->add_option("--what", what_, "attention, norms, logits, weights or metrics")
            ->required()
            ->check(CLI::IsMember({"attention", "norms", "logits", "weights", "metrics"}));
        out->add_option("--text", text_, "Text that attention, norms or logits are taken of");
        out->add_option("--out", out_,
                        "File to write: .safetensors, or .csv for attention, norms and metrics")
            ->required();
        out->callback([this] {
            action_ = [this] {
                read_.runs = runs_;
                return roper::exportCommand(read_, what_, text_, out_);
            };
        });
    }

    void addServe() {
        CLI::App* serve = command("serve", "Answer questions about a run that is not training, on a socket");
        addReading(serve);
        serve->add_flag("--with-parent", with_parent_, "End when stdin is closed");
        serve->add_flag("--json", read_.json, "Say where it listens as one JSON object");
        serve->callback([this] {
            action_ = [this] {
                read_.runs = runs_;
                return roper::serveCommand(read_, with_parent_);
            };
        });
    }

    void addEnqueue() {
        CLI::App* enqueue = command("enqueue", "Put runs into the queue, one for each seed");
        enqueue->add_option("what", enqueue_.what, "Name of a preset, or path of a .toml file")->required();
        enqueue->add_option("--seeds", enqueue_.seeds, "Such as 0-4 or 1,5,9");
        enqueue->add_flag("--twins", enqueue_.twins, "RoPE and RoPER for each seed");
        enqueue->add_option("--set", enqueue_.settings, "Change a field: key=value")->allow_extra_args(false);
        addRunsFolder(enqueue);
        enqueue->callback([this] {
            action_ = [this] {
                enqueue_.runs = runs_;
                return roper::enqueueCommand(enqueue_);
            };
        });
    }

    void addQueue() {
        CLI::App* queue = command("queue", "Train what is in the queue, until it is empty");
        addRunsFolder(queue);
        queue->add_flag("--background", background_, "For the window: saying nothing");
        queue->callback([this] { action_ = [this] { return roper::queueCommand(runs_, background_); }; });
    }

    void addSweep() {
        CLI::App* sweep = command("sweep", "Train what is missing of a sweep: axes of settings, and seeds");
        sweep->add_option("sweep", sweep_.sweep, "A .toml file, or the name of a bundled sweep")->required();
        sweep->add_option("--jobs", sweep_.at_once, "Trainers at the same time")->check(CLI::Range(1, 256));
        sweep->add_flag("--slurm", sweep_.slurm, "Print a batch script of one array element a run instead");
        sweep->add_option("--only", sweep_.only, "Train this run alone, counted from 0")
            ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
        addRunsFolder(sweep);
        sweep->callback([this] {
            action_ = [this] {
                sweep_.runs = runs_;
                return roper::sweepCommand(sweep_);
            };
        });
    }

    void addCompare() {
        CLI::App* compare = command("compare", "Compare two groups of runs seed by seed");
        addRunsFolder(compare);
        compare->add_option("--filter", compare_.filter,
                            "Words, and comparisons such as \"seed<5 width=128\"");
        compare->add_option(
            "--measure", compare_.measure,
            "final_correct, best_correct, final_loss, training_loss, final_token_accuracy, steps_until");
        compare->add_option("--share", compare_.share, "Share of problems solved, for steps_until")
            ->check(CLI::Range(0.0, 1.0));
        compare->add_option("--a", compare_.a, "Label of the first group, or a part of it (default: RoPE)");
        compare->add_option("--b", compare_.b, "Label of the second (default: RoPER)");
        compare->add_option("--csv", compare_.csv, "Also write the pairs to this file");
        compare->add_flag("--json", compare_.json, "One JSON object");
        compare->callback([this] {
            action_ = [this] {
                compare_.runs = runs_;
                return roper::compareCommand(compare_);
            };
        });
    }

    void addBoard() {
        CLI::App* board = command("board", "The RoPER note's table: its numbers, ours, and what is missing");
        addRunsFolder(board);
        board->add_flag("--measure", measure_, "Measure how long a step takes here, where no run says so");
        board->add_flag("--enqueue", enqueue_missing_, "Put what is missing into the queue");
        board->add_flag("--json", read_.json, "One JSON object a row and method");
        board->callback([this] {
            action_ = [this] { return roper::boardCommand(runs_, measure_, enqueue_missing_, read_.json); };
        });
    }

    void addBench() {
        CLI::App* bench =
            command("bench", "Measure training steps, attention or cached generation, both methods");
        bench
            ->add_option(
                "work", bench_.work,
                "step, attention, generate; baselines: other programs beside ours; first: one step in a "
                "new process")
            ->check(CLI::IsMember({"step", "attention", "generate", "baselines", "first", "peers"}));
        bench->add_option(
            "--preset", bench_.what,
            "Name of a preset, or path of a .toml file (default: A, prefix-paper, and B, addition-paper)");
        bench->add_option("--set", bench_.settings, "Change a field: key=value")->allow_extra_args(false);
        bench
            ->add_option(
                "--times", bench_.times,
                "Repetitions (default: 200 of A, 5 of B, 20 of a preset); of B a fortieth, at least 3")
            ->check(CLI::Range(1, 100000));
        bench->add_option("--target", bench_.target,
                          "Instruction set of our kernels: AVX-512, AVX2, SSE4, portable");
        bench->add_flag("--remember", bench_.remember,
                        "Keep a step's time in the runs folder, for the board");
        bench->add_flag("--json", bench_.json, "One JSON object a method");
        addRunsFolder(bench);
        bench->callback([this] {
            action_ = [this] {
                bench_.runs = runs_;
                return roper::benchCommand(bench_);
            };
        });
    }

    void addImport() {
        CLI::App* importing = command("import", "Make a run of metrics that another program wrote");
        importing->add_option("file", foreign_.file, "CSV with a header, or one JSON object a line")
            ->required();
        importing->add_option("--name", foreign_.name, "Name of the run's folder");
        importing
            ->add_option("--column", foreign_.columns,
                         "field=column; fields are step, loss, time_s, tokens, correct, of, evaluation_loss, "
                         "learning_rate")
            ->allow_extra_args(false);
        importing->add_option("--set", foreign_.settings, "What the run is taken for: key=value")
            ->allow_extra_args(false);
        addRunsFolder(importing);
        importing->callback([this] {
            action_ = [this] {
                foreign_.runs = runs_;
                return roper::importCommand(foreign_);
            };
        });
    }

    CLI::App app_{"Trains transformers with rotary position embeddings, and answers questions about them.",
                  "roper-train"};
    std::function<int()> action_;
    std::string runs_ = roper::defaultRunsFolder().string();
    roper::RunOptions run_;
    roper::ReadOptions read_;
    roper::SessionOptions session_;
    VerbosityFlags flags_;
    bool markdown_ = false, background_ = false, with_parent_ = false;
    std::string task_, what_, text_, out_;
    std::int64_t count_ = 10;
    roper::EvalOptions eval_;
    roper::EnqueueOptions enqueue_;
    roper::SweepOptions sweep_;
    roper::CompareOptions compare_;
    roper::BenchOptions bench_;
    roper::ImportOptions foreign_;
    bool measure_ = false, enqueue_missing_ = false;
    std::optional<std::int64_t> seed_;
};

}  // namespace

/// Threads of LibTorch's OpenMP wait for each other many times a step. By default they do so busily
/// and for long, which makes training many times slower as soon as anything else needs a core; a
/// short busy wait costs nothing on an idle machine. The library reads this before main, so the
/// program starts itself once more.
void waitBriefly(char** argv) {
    if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
    ::setenv("GOMP_SPINCOUNT", "3000", 1);
    ::execv("/proc/self/exe", argv);  // where that fails, training is only slower
}

int main(int argc, char** argv) {
    waitBriefly(argv);
    try {
        return CommandLine().parseAndRun(argc, argv);
    } catch (const roper::Error& error) {
        std::cerr << "roper-train: " << error.what() << "\n";
        return error.exitCode();
    } catch (const std::exception& error) {
        std::cerr << "roper-train: " << error.what() << "\n";
        return static_cast<int>(roper::ErrorKind::other);
    }
}
