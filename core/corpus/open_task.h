#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/corpus/corpus_files.h"
#include "core/runs/run_folder.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// Callbacks while a text is prepared, which may take minutes.
struct PreparationCallbacks {
    std::function<void(const std::string&)> report = {};  ///< receives a line for the user
    std::function<bool()> should_continue = {};  ///< called a few times a second; cancels by returning false
};

/// The vocabulary and tokens of a text, cached in $XDG_CACHE_HOME/roper-lab/texts (else ~/.cache/…) on first
/// use. A text that has changed is prepared again. If several processes need it at the same time, one
/// prepares it.
/// @param model  tokenizer whose vocabulary is used, instead of learning one from the text
/// @returns nothing if `should_continue` cancelled
/// @throws Error (usage) if there is no such text or no vocabulary can be learned from it, Error (disk)
std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const PreparationCallbacks& callbacks,
                                         const std::optional<FilePath>& model = {});

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

/// The task of `openTask` without a run, for example for benchmarks.
std::unique_ptr<Task> openTask(const TaskSettings& settings, const PreparationCallbacks& callbacks = {});

}  // namespace roper
