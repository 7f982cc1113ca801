#pragma once

#include <QString>

#include "core/compare/expected_time.h"
#include "ui/live/run_watcher.h"

namespace roper {

/// A notice for a run that is not simply queued, training or finished: what happened, and what can be done.
/// Empty otherwise.
QString noticeOf(const RunWatcher& run);

/// " (…)" if the status was written by a trainer of another version than this program; otherwise empty.
QString otherVersionNote(const Status& status);

/// "about 4 min on this machine", with the basis of the estimate if it was not timed.
QString expectedTimeText(const ExpectedTime& time);

/// The time of day at the end: "at 14:35", "tomorrow at 02:10", "on 27 Nov at 09:00".
QString clockTimeText(double seconds_from_now);

/// A text like those that a run's model was trained on: a problem of its newest evaluation, or one generated
/// from its specification. Empty if neither exists.
QString exampleText(const RunWatcher& run);

/// The part of such a text that serves as a prompt: a problem without its answer, or the beginning of a text.
QString examplePrompt(const RunWatcher& run);

}  // namespace roper
