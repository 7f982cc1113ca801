#pragma once

#include <QString>

#include "ui/live/run_watcher.h"

namespace roper {

/// A text of the kind that a run's model was trained on: a problem of its newest evaluation, or one generated
/// from its specification. Empty if neither exists.
QString exampleText(const RunWatcher& run);

/// The part of it that serves as a prompt: a problem without its answer, or the beginning of a text.
QString examplePrompt(const RunWatcher& run);

}  // namespace roper
