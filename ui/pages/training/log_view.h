#pragma once

#include <QPlainTextEdit>

#include "ui/live/run_watcher.h"

namespace roper {

/// The end of a run's log, and of what its trainer wrote to stderr.
class LogView : public QPlainTextEdit {
    Q_OBJECT

  public:
    explicit LogView(QWidget* parent);

    /// Nothing clears it.
    void showLog(const RunWatcher* run);
};

}  // namespace roper
