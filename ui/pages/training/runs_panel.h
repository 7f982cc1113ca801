#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QToolButton>

#include "ui/live/control_client.h"
#include "ui/pages/training/run_filter_model.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// The table of runs, and what can be done with the selected one: pause, resume, stop, checkpoint, continue.
class RunsPanel : public QWidget {
    Q_OBJECT

  public:
    RunsPanel(TrainingState& state, QWidget* parent);

    RunsModel& model() { return *model_; }
    /// The run that the buttons act on, and whose samples are shown; of several the one chosen last.
    RunWatcher* selected() const;
    /// All that are chosen.
    std::vector<RunWatcher*> allSelected() const;
    void select(const QString& name);

    /// Names of the first `most` runs as the table is sorted and filtered; the selected one is among them.
    QStringList listed(int most) const;
    /// Gives the selected run's folder another name. @throws Error
    void rename(const QString& to);

    void send(Command command);
    void continueSelected();

    QPushButton* pauseButton() { return pause_; }
    QPushButton* stopButton() { return stop_; }

  signals:
    void selectionChanged();
    /// The first runs of the table as it is sorted and filtered, and the selected one, are others now.
    void listedChanged();
    void colorChosen(const QString& run, const QColor& color);
    void renamed(const QString& from, const QString& to);
    void said(const QString& message);

  private:
    QWidget* makeButtons();
    void showButtons();
    void openMenu(const QPoint& at);
    void openFolder();
    void discard();
    void askForName();
    void askForColor();
    void putIntoQueue();

    TrainingState& state_;
    RunStore& store_;
    TrainerLauncher& launcher_;
    QueueLauncher& queue_;
    RunsModel* model_;
    RunFilterModel* proxy_;
    QTableView* table_;
    QLineEdit* filter_;
    QLabel *detail_, *filter_problem_;
    QPushButton *pause_, *stop_, *checkpoint_, *continue_;
    ControlClient* control_;
    QString version_note_;  ///< of the trainer that a command was sent to last
};

}  // namespace roper
