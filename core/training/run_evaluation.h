#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"
#include "core/training/model_load_options.h"

namespace roper {

/// How a finished run is evaluated; unset options are as in its specification.
struct EvaluationOptions {
    std::int64_t problems = 128;            ///< number of problems (by size: of each size), or of sequences
    std::optional<std::int64_t> seed = {};  ///< of the problems and sequences
    std::optional<double> temperature = {};
    std::optional<std::int64_t> length = {};  ///< length in tokens of the sequences for the loss
    /// maximum number of digits or letters for evaluation by size; may exceed that of training
    std::optional<std::int64_t> largest = {};
    Scaling scaling = {};  ///< of the frequencies; original_length is set to the run's training length
};

/// Evaluates a checkpoint of a run on problems.
/// @throws Error (checkpoint) if there is no such checkpoint
Evaluation evaluateRun(const RunFolder& folder, const ModelLoadOptions& options,
                       const EvaluationOptions& settings);

/// Mean −ln p of the next token, by the position of the token that predicts it.
struct PositionLosses {
    std::int64_t step = 0;
    std::int64_t length = 0;     ///< of the sequences in tokens
    std::vector<double> losses;  ///< one per position
};

/// Computes the loss of a checkpoint on `problems` validation sequences by position.
/// @throws Error (usage) for a masked language model, Error (checkpoint)
PositionLosses lossByPosition(const RunFolder& folder, const ModelLoadOptions& options,
                              const EvaluationOptions& settings);

/// Numbers of problems solved, by size.
struct SizeScores {
    std::int64_t step = 0;
    Scaling scaling;
    std::vector<std::string> names;  ///< of the two numbers of a size
    std::vector<SizeScore> scores;
};

/// Evaluates a checkpoint of a run on `problems` problems of every size. @throws Error (usage) if the
/// task has no problems, or if a scaling is given and the run's position method has no frequencies; Error
/// (checkpoint)
SizeScores evaluateRunBySize(const RunFolder& folder, const ModelLoadOptions& options,
                             const EvaluationOptions& settings);

}  // namespace roper
