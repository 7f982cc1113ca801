#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"
#include "core/training/reading_options.h"

namespace roper {

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

}  // namespace roper
