#pragma once

#include <memory>

#include "core/model/transformer.h"
#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"
#include "core/training/model_load_options.h"

namespace roper {

/// A model loaded from a checkpoint of its run.
struct LoadedModel {
    Specification specification;
    std::unique_ptr<Task> task;
    std::unique_ptr<Transformer> model;
    std::int64_t step;                 ///< of the checkpoint
    std::uint64_t sequences_seen = 0;  ///< number of sequences trained on until then
};

/// @param for_evaluation  loads the whole text of a text task, not only its vocabulary
/// @throws Error (checkpoint), Error (usage)
LoadedModel loadModel(const RunFolder& folder, const ModelLoadOptions& options, bool for_evaluation = false);

/// Scales frequencies, so that the model can read texts of `length` tokens. `scaling.original_length` is
/// replaced by the length of the model's training inputs.
void rescale(LoadedModel& loaded, Scaling scaling, std::int64_t length);

}  // namespace roper
