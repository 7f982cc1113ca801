#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QToolButton>

#include "ui/runs/control_client.h"
#include "ui/runs/trainer_launcher.h"
#include "ui/training/runs_model.h"

namespace roper {

/// The table of runs, and what can be done with the selected one: pause, resume, stop, checkpoint, continue.
class RunsPanel : public QWidget {
    Q_OBJECT

  public:
    RunsPanel(RunStore& store, TrainerLauncher& launcher, QWidget* parent);

    RunsModel& model() { return *model_; }
    RunWatcher* selected() const;
    void select(const QString& name);

    void send(Command command);
    void continueSelected();

    QPushButton* pauseButton() { return pause_; }
    QPushButton* stopButton() { return stop_; }

  signals:
    void selectionChanged();
    void said(const QString& message);

  private:
    QWidget* makeButtons();
    void showButtons();
    void openMenu(const QPoint& at);
    void openFolder();
    void moveToWastebasket();

    RunStore& store_;
    TrainerLauncher& launcher_;
    RunsModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    QLineEdit* filter_;
    QLabel* detail_;
    QPushButton *pause_, *stop_, *checkpoint_, *continue_;
    ControlClient* control_;
};

}  // namespace roper
