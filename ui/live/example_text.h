#pragma once

#include <QString>

#include "ui/live/run_watcher.h"

namespace roper {

/// A text that a run's model knows the like of: a problem of its newest evaluation, or one made from its
/// specification. Empty where neither is there.
QString exampleText(const RunWatcher& run);

/// The same as far as the model is given it: a problem without its answer, or the beginning of a text.
QString examplePrompt(const RunWatcher& run);

}  // namespace roper
