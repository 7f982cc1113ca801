#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/corpus/corpus_files.h"
#include "core/tasks/task_kind.h"

namespace roper {

/// What happens while a text is prepared, which may take minutes.
struct Preparing {
    std::function<void(const std::string&)> say = {};  ///< a line for a person
    std::function<bool()> goes_on = {};                ///< called a few times a second
};

/// The vocabulary and tokens of a text, from $XDG_CACHE_HOME/roper-lab/texts (else ~/.cache/…), where they
/// are put when they are first needed (`model`: with the vocabulary of that file, rather than with a new
/// one). A text that has changed since is prepared again. Of several who ask at the same time one does the
/// work. Nothing if `goes_on` said no.
/// @throws Error (usage) if there is no such text or no vocabulary can be made of it, Error (disk)
std::optional<CorpusFiles> prepareCorpus(const TaskSettings& settings, const Preparing& preparing,
                                         const std::optional<FilePath>& model = {});

}  // namespace roper
