#pragma once

#include <memory>

#include "core/model/transformer.h"
#include "core/rotary/scaling.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task.h"
#include "core/training/reading_options.h"

namespace roper {

/// A model as one of its run's checkpoints left it.
struct LoadedModel {
    Specification specification;
    std::unique_ptr<Task> task;
    std::unique_ptr<Transformer> model;
    std::int64_t step;
    std::uint64_t sequences_seen = 0;
};

/// @param to_evaluate  needs the whole text of a text, not its vocabulary alone
/// @throws Error (checkpoint), Error (usage)
LoadedModel loadModel(const RunFolder& folder, const ReadingOptions& options, bool to_evaluate = false);

/// Lets a model read texts of `length` tokens with scaled frequencies.
void rescale(LoadedModel& loaded, Scaling scaling, std::int64_t length);

}  // namespace roper
