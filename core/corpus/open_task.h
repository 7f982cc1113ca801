#pragma once

#include <memory>

#include "core/corpus/corpus_cache.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// The task that a run trains on or is evaluated on. Of a text, the run's folder gets the vocabulary
/// (`text/`), so that its model can be used wherever the folder goes; from then on the text must stay what it
/// was. Null if `preparing.goes_on` said no.
/// @throws Error (usage) if there is no such text, or if it is not the one that the run began with
std::unique_ptr<Task> openTask(const TaskSettings& settings, const RunFolder& folder,
                               const Preparing& preparing = {});

/// The task as a trained model needs it for inference: of a text, the vocabulary alone.
/// @throws Error (checkpoint) if the run's folder lacks its vocabulary
std::unique_ptr<Task> openTaskForInference(const TaskSettings& settings, const RunFolder& folder);

/// Reads the beginning of the text that a run would train on, so that one that cannot be read leaves no run
/// behind; does nothing for other tasks, nor for a text that is not there.
/// @throws Error (usage) naming file and byte of what is no text, Error (disk)
void requireReadableText(const TaskSettings& settings);

/// The same task without a run, as for measuring times.
std::unique_ptr<Task> openTask(const TaskSettings& settings, const Preparing& preparing = {});

}  // namespace roper
