#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/corpus/corpus_files.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// Callbacks while a text is prepared, which may take minutes.
struct PreparationCallbacks {
    std::function<void(const std::string&)> report = {};  ///< receives a line for the user
    std::function<bool()> should_continue = {};  ///< called a few times a second; cancels by returning false
};

/// The vocabulary and tokens of a text, cached in $XDG_CACHE_HOME/roper-lab/texts (else ~/.cache/…) on first
/// use. A text that has changed is prepared again. If several processes ask at the same time, one does the
/// work.
/// @param model  uses the vocabulary of this file instead of learning a new one
/// @returns nothing if `should_continue` cancelled
/// @throws Error (usage) if there is no such text or no vocabulary can be learned from it, Error (disk)
std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const PreparationCallbacks& callbacks,
                                         const std::optional<FilePath>& model = {});

}  // namespace roper
