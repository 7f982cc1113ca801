#pragma once

#include <memory>

#include "core/corpus/corpus_cache.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// The task on which a run is trained or evaluated. For a text, the vocabulary is copied to the run's folder
/// (`text/`), so that the model remains usable wherever the folder goes; from then on the text must not
/// change.
/// @returns null if `callbacks.should_continue` cancelled
/// @throws Error (usage) if the text does not exist or is not the one with which the run began
std::unique_ptr<Task> openTask(const TaskSettings& settings, const RunFolder& folder,
                               const PreparationCallbacks& callbacks = {});

/// The task for inference with a trained model; for a text, only its vocabulary.
/// @throws Error (checkpoint) if the run's folder lacks its vocabulary
std::unique_ptr<Task> openTaskForInference(const TaskSettings& settings, const RunFolder& folder);

/// Checks the beginning of a run's training text, so that an unreadable text does not leave a run behind.
/// Does nothing for other tasks and for a missing text.
/// @throws Error (usage) naming file and byte of invalid text, Error (disk)
void requireReadableText(const TaskSettings& settings);

/// The same task without a run, for example for benchmarks.
std::unique_ptr<Task> openTask(const TaskSettings& settings, const PreparationCallbacks& callbacks = {});

}  // namespace roper
