#pragma once

#include <QDialog>
#include <QTableWidget>
#include <vector>

#include "ui/live/run_watcher.h"

namespace roper {

/// Runs side by side: the settings that differ, then what each reached, as they are when it opens.
class DifferencesDialog : public QDialog {
    Q_OBJECT

  public:
    /// @param runs  those whose specifications can be read
    DifferencesDialog(const std::vector<RunWatcher*>& runs, QWidget* parent);

    const QTableWidget& table() const { return *table_; }

  private:
    QTableWidget* table_;
    QString markdown_;
};

}  // namespace roper
