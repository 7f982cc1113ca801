#pragma once

#include <QString>

#include "ui/live/run_watcher.h"

namespace roper {

/// What a person should know about a run that is not simply queued, at work or done: what happened, and what
/// can be done. Empty if all is well.
QString noticeOf(const RunWatcher& run);

/// " (…)" if the trainer that wrote the status is of another version than this program, else empty.
QString otherVersionNote(const Status& status);

}  // namespace roper
