#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/roper_train/progress.h"
#include "core/questions/question.h"
#include "core/reading/answer_writer.h"
#include "core/specification/specification.h"
#include "core/training/run_evaluation.h"
#include "core/training/session.h"

namespace roper {

struct RunOptions {
    std::string what;                   ///< a preset's name or a specification's path
    std::vector<std::string> settings;  ///< overridden fields, "key=value"
    std::filesystem::path runs;
    std::string name;                          ///< of the run's folder; empty: chosen automatically
    std::string steps, seed, threads, device;  ///< as typed; empty if not given
    Verbosity verbosity = Verbosity::lines;
    SessionOptions session = {};
};

/// A checkpoint of a run to be read.
struct CheckpointOptions {
    std::string run;  ///< name in `runs`, or path
    std::filesystem::path runs;
    std::optional<std::int64_t> step;  ///< nullopt: the newest
    std::string device = "cpu";
    bool json = false;
};

/// Loads a preset by its name or a specification by its path, then sets the fields given as "key=value".
/// @throws Error (usage)
Specification loadSpecification(const std::string& what, const std::vector<std::string>& settings = {});

// Each command prints its data on stdout and returns the program's exit code. All throw Error.

int runCommand(const RunOptions& options);
int resumeCommand(const std::string& run, const std::filesystem::path& runs, const SessionOptions& session,
                  Verbosity verbosity);
struct FollowOptions {
    std::string at;           ///< HOST:PORT
    int rank = 0, size = 0;   ///< rank of this process, from 1; number of processes
    std::int64_t parent = 0;  ///< id of the process with which this one ends; 0: none
};
/// Helps to train a run whose first process has started this one and passes a secret on stdin.
int followCommand(const FollowOptions& options);
int listCommand(const std::filesystem::path& runs, bool json);
/// Prints the names of runs, one per line, for completion.
int listNamesCommand(const std::filesystem::path& runs);
int presetNamesCommand();
/// Prints the keys of all settings, each followed by "=".
int keysCommand();
/// Prints the allowed values of a setting, one per line; nothing for a number or a text. @throws Error
/// (usage)
int valuesCommand(const std::string& key);
/// Options for showing a model's rotation.
struct RotationOptions {
    /// Each a config.json, a folder with one, a .gguf file, or a run's path or name.
    std::vector<std::filesystem::path> models;
    std::filesystem::path runs;
    std::int64_t tokens = 1;  ///< length of the text, on which dynamic scaling and LongRoPE depend
    bool json = false;
};
/// Prints how models rotate. With several, an error takes the place of a model's output, and the next
/// follows.
/// @returns the exit code of the first error, otherwise 0
int rotationCommand(const RotationOptions& options);
/// Lists the published models in the caches of other programs, with their size and the memory that reading
/// takes, or why they cannot be opened.
int modelsCommand(bool json);
/// Options for comparing the rotation of models.
struct FamiliesOptions {
    std::vector<std::filesystem::path> models;  ///< empty: those in the caches of other programs
    std::filesystem::path runs;
    bool well_known = false;   ///< also print the rows of `knownModels`
    std::string text;          ///< measure attention on this text; empty: do not
    std::int64_t threads = 0;  ///< 0: one per core
    bool json = false;
};
/// Prints a row for the layers of a model with the same rotation and window: frequencies, window, sinks; with
/// a text also how far their heads attend. An error takes the place of a model's rows.
/// @returns the exit code of the first error, otherwise 0
int familiesCommand(const FamiliesOptions& options);
/// Options for tokenizing texts with a model's tokenizer.
struct TokensOptions {
    std::filesystem::path model;  ///< a tokenizer.json, a folder with one, a GGUF file, or a run
    std::filesystem::path runs;
    std::vector<std::string> texts;
    std::filesystem::path texts_file;  ///< replaces `texts`: one JSON string per line
    bool json = false;
};
/// Prints the tokens of texts. With several, an error takes the place of a text's tokens.
/// @returns the exit code of the first error, otherwise 0
int tokensCommand(const TokensOptions& options);
/// Options of a question about a model.
struct LookOptions {
    std::filesystem::path model;       ///< a .gguf file, a Hugging Face folder, or a run's path or name
    std::filesystem::path runs;        ///< where runs are found by name
    std::optional<std::int64_t> step;  ///< of a run's checkpoint; nullopt: the newest
    Question question = {};
    std::filesystem::path text_file;  ///< file with the question's text; empty: `question.text`
    std::filesystem::path out;        ///< file for attention weights; empty: stdout
    std::int64_t threads = 0;         ///< 0: one per core
    AnswerFormat format = AnswerFormat::text;
};
/// Prints the answer to a question about a model.
int lookCommand(const LookOptions& options);
int trustCommand(const std::filesystem::path& runs);
int presetsCommand(bool json);
/// Prints a preset or specification as TOML; without a name, the defaults. `markdown`: prints the table of
/// all fields instead.
int describeCommand(const std::string& what, bool markdown);
int sampleCommand(const std::string& task, const std::vector<std::string>& settings, std::int64_t count,
                  std::uint64_t seed);
struct EvalOptions {
    EvaluationOptions evaluation;
    std::string scaling = "none";            ///< one of `ScalingMethod`
    std::vector<double> long_factors = {};   ///< for longrope: divisors of the pairs' frequencies
    bool by_size = false;                    ///< count solved problems for each size
    bool by_position = false;                ///< loss at each position of the sequences
    std::vector<std::int64_t> lengths = {};  ///< of sequences, in tokens; empty: as in training
    bool keep = false;          ///< also save in the run's sizes.csv, lengths.csv or positions.csv
    std::filesystem::path out;  ///< also write the generated texts to this file (.jsonl); empty: none
};
int evalCommand(const CheckpointOptions& options, EvalOptions eval);
/// Prints the socket's path and answers requests on it. `with_parent`: ends when stdin is closed.
int serveCommand(const CheckpointOptions& options, bool with_parent);
/// @param what       attention, norms, logits, weights, metrics or huggingface
/// @param precision  "fp32" or "bf16": precision in which attention, norms and logits are computed
int exportCommand(const CheckpointOptions& options, const std::string& what, const std::string& text,
                  const std::filesystem::path& out, const std::string& precision);

}  // namespace roper
