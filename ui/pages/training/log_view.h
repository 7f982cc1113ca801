#pragma once

#include <QPlainTextEdit>

#include "ui/live/run_watcher.h"

namespace roper {

/// The end of a run's log, and of its trainer's stderr.
class LogView : public QPlainTextEdit {
    Q_OBJECT

  public:
    explicit LogView(QWidget* parent);

    /// @param run  null: clears the view
    void showLog(const RunWatcher* run);
};

}  // namespace roper
