#pragma once

#include <QDialog>
#include <QTableWidget>
#include <vector>

#include "ui/live/run_watcher.h"

namespace roper {

/// Compares runs: the settings that differ, and the results at the time of opening.
class DifferencesDialog : public QDialog {
    Q_OBJECT

  public:
    /// @param runs  those whose specification cannot be read are omitted
    DifferencesDialog(const std::vector<RunWatcher*>& runs, QWidget* parent);

    const QTableWidget& table() const { return *table_; }

  private:
    QTableWidget* table_;
    QString markdown_;  ///< the table, to be copied
};

}  // namespace roper
