#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeView>

#include "ui/live/control_client.h"
#include "ui/pages/training/run_filter_model.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// The tree of experiments and runs, and what can be done with those that are chosen: pause, resume, stop,
/// checkpoint, and what the menu of a row offers.
class RunsPanel : public QWidget {
    Q_OBJECT

  public:
    RunsPanel(TrainingState& state, QWidget* parent);

    RunsModel& model() { return *model_; }
    QTreeView& tree() { return *tree_; }
    /// The run whose samples and notices are shown: the current row's, of an experiment the first.
    RunWatcher* selected() const;
    /// All that are chosen; of a chosen experiment all runs that are listed.
    std::vector<RunWatcher*> allSelected() const;
    void select(const QString& name);

    /// The runs that belong into the charts, as the tree is sorted and filtered: those of the selected run's
    /// experiment and of the ticked ones.
    QStringList charted() const;
    /// Unticks all experiments: the chosen one is alone in the charts.
    void chartNothingElse() { model_->untickAll(); }
    /// Gives the selected run's folder another name. @throws Error
    void rename(const QString& to);
    /// Gives an experiment's runs the name of one. @throws Error
    void renameExperiment(const std::vector<RunWatcher*>& runs, const QString& name);

    /// Sends a command to the trainers of all chosen runs that train.
    void send(Command command);
    /// Lets paused runs go on, and starts trainers again for those that have ended before their last step.
    void resumeSelected();

    QPushButton* pauseButton() { return pause_; }
    QPushButton* resumeButton() { return resume_; }
    QPushButton* stopButton() { return stop_; }

  signals:
    void selectionChanged();
    /// Other runs belong into the charts now.
    void chartedChanged();
    void colorChosen(const QString& run, const QColor& color);
    void renamed(const QString& from, const QString& to);
    void said(const QString& message);
    /// Look into the selected run's model, its twin beside it or not.
    void inspectWanted(const QString& run, bool with_twin);
    /// Compare the groups of an experiment; words that find its runs.
    void compareWanted(const QString& filter);
    /// The groups that these runs are in should be compared, and no others.
    void compareRunsWanted(const QStringList& runs);
    /// The same settings again, to change something.
    void settingsWanted(const roper::Specification& specification);

  protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    QWidget* makeButtons();
    void makeTree();
    void send(Command command, const RunWatcher& run);
    void showButtons();
    void openMenu(const QPoint& at);
    void openColumnMenu(const QPoint& at);
    void openFolder();
    void discard();
    void readLabelsAgain();
    void askForName();
    void askForExperimentName();
    void askForNotes();
    void showDifferences();
    void askForColor();
    void putIntoQueue();
    void toggleTicks();
    /// Keys of the experiments that runs are of, each once.
    QStringList experimentsOf(const std::vector<RunWatcher*>& runs) const;
    bool isCharted(const QString& experiment) const;
    bool areTicked(const std::vector<RunWatcher*>& runs) const;
    std::vector<RunWatcher*> listedUnder(const QModelIndex& index) const;
    bool isSeen(const QModelIndex& index) const;
    void scrollToCurrent();
    bool canResume(const RunWatcher& run) const;
    bool canBeQueued(const RunWatcher& run) const;

    TrainingState& state_;
    RunStore& store_;
    TrainerLauncher& launcher_;
    QueueLauncher& queue_;
    RunsModel* model_;
    RunFilterModel* proxy_;
    QTreeView* tree_;
    bool was_shown_ = false;
    bool current_was_seen_ = false;  ///< before rows were sorted anew
    QLineEdit* filter_;
    QLabel *detail_, *filter_problem_;
    QPushButton *pause_, *stop_, *checkpoint_, *resume_;
    ControlClient* control_;
    QString version_note_;  ///< of the trainer that a command was sent to last
};

}  // namespace roper
