#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"

namespace roper {

class RunRecorder;

// What the programs ask of training, in types that do not need LibTorch's headers.

struct TrainingStart {
    std::int64_t step;
    std::int64_t steps;
    std::int64_t parameters;
    std::string device;
};

/// Told what happens while a run trains.
class TrainingObserver {
  public:
    virtual ~TrainingObserver() = default;
    /// Something a person should know.
    virtual void onNote(const std::string&) {}
    virtual void onStart(const TrainingStart&) {}
    virtual void onStep(const MetricsRow&) {}
    virtual void onEvaluation(const EvaluationRow&) {}
    virtual void onPause(bool /*paused*/) {}
};

/// Writes something a person should know into the log of a run and tells the observer; an empty text is
/// nothing.
void note(RunRecorder& recorder, TrainingObserver& observer, const std::string& text);

/// What may differ from the specification for one session; empty or 0 keeps what it says.
struct SessionOptions {
    std::string device;
    std::int64_t threads = 0;
    std::int64_t processes = 1;  ///< that train the run together, each a part of every batch
    std::string specification;   ///< SHA-256 that run.toml must have; empty: any
    bool anyway = false;         ///< begin also if memory does not suffice by our estimate
};

/// Trains a queued run, or continues one after its newest checkpoint, until it is finished or told to end.
/// Failure is written to the run's status and log before it is thrown.
/// @throws Error of every kind
RunState trainRun(const RunFolder& folder, TrainingObserver& observer, const SessionOptions& session = {});

/// Settings that hold for one session and are not part of what a run is.
struct ReadingOptions {
    std::optional<std::int64_t> step;  ///< of the checkpoint; the newest if not given
    std::string device = "cpu";
    std::function<void(const std::string&)> note = {};  ///< told what takes long, such as preparing a text
    std::string precision = {};                         ///< as `device.precision`; the run's own if not given
};

/// Refuses what is too much for this machine before anything is made of it.
/// @throws Error (memory) with the estimate, what is free and what to change
void requireMemory(const Specification& specification);

/// @throws Error (usage) for more processes than a batch has sequences
void requireShares(const Specification& specification, std::int64_t processes);

/// How a finished run is evaluated; what is not given is as in its specification.
struct EvaluationOptions {
    std::int64_t problems = 128;
    std::optional<std::int64_t> seed = {};
    std::optional<double> temperature = {};
    std::optional<std::int64_t> length = {};  ///< tokens of the sequences that the loss is taken on
    std::optional<std::int64_t> largest =
        {};                ///< by size: digits or letters up to this, also beyond training
    Scaling scaling = {};  ///< of the frequencies; original_length is set to what the run was trained on
};

struct RunEvaluation {
    EvaluationRow row;
    std::vector<Sample> samples;
};

/// Asks a checkpoint of a run problems.
/// @throws Error (checkpoint) if there is no such checkpoint
RunEvaluation evaluateRun(const RunFolder& folder, const ReadingOptions& options,
                          const EvaluationOptions& at);

/// Loss by the position of the token that the next one is predicted from.
struct PositionLosses {
    std::int64_t step = 0;
    std::int64_t length = 0;     ///< tokens of the sequences
    std::vector<double> losses;  ///< one for each position
};

/// Takes the loss of a checkpoint on `problems` validation sequences, position by position.
/// @throws Error (usage) for a masked language model, Error (checkpoint)
PositionLosses lossByPosition(const RunFolder& folder, const ReadingOptions& options,
                              const EvaluationOptions& at);

/// Problems solved of every size.
struct SizeScores {
    std::int64_t step = 0;
    Scaling scaling;
    std::vector<std::string> names;  ///< of the two numbers of a size
    std::vector<SizeScore> scores;
};

/// Asks a checkpoint of a run `problems` problems of every size. @throws Error (usage) for a task without
/// problems, or for a scaling where there are no frequencies, Error (checkpoint)
SizeScores evaluateRunBySize(const RunFolder& folder, const ReadingOptions& options,
                             const EvaluationOptions& at);

/// Attention weights of every layer and head for `text`, to a .safetensors file ("attention" [L, H, T, T],
/// "tokens" [T]) or a .csv file (layer,head,query,key,weight). @throws Error
void exportAttention(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                     const std::filesystem::path& out);

/// Mean lengths by pair of q, k, v and output of every head for `text`, to a .safetensors file ("norms" [4,
/// L, H, d/2], "tokens" [T]) or a .csv file (vector,layer,head,pair,norm). @throws Error
void exportNorms(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                 const std::filesystem::path& out);

/// The model's logits for `text`, to a .safetensors file ("logits" [T, V], "tokens" [T]). @throws Error
void exportLogits(const RunFolder& folder, const ReadingOptions& options, const std::string& text,
                  const std::filesystem::path& out);

/// The weights of a checkpoint without what only training needs, to a .safetensors file. @throws Error
void exportWeights(const RunFolder& folder, const ReadingOptions& options, const std::filesystem::path& out);

}  // namespace roper
