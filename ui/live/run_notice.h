#pragma once

#include <QString>

#include "ui/live/run_watcher.h"

namespace roper {

/// A notice for a run that is not simply queued, training or finished: what happened, and what can be done.
/// Empty otherwise.
QString noticeOf(const RunWatcher& run);

/// " (…)" if the status was written by a trainer of another version than this program; otherwise empty.
QString otherVersionNote(const Status& status);

}  // namespace roper
