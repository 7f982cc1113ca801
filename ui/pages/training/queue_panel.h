#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>

#include "core/base/machine_load.h"
#include "ui/pages/training/named_item.h"
#include "ui/pages/training/training_state.h"

namespace roper {

/// The tree of queued runs. One or more rows can be dragged to another position.
class QueueList : public QTreeWidget {
    Q_OBJECT

  public:
    using QTreeWidget::QTreeWidget;

  signals:
    void dropped();

  protected:
    void dropEvent(QDropEvent* event) override;
};

/// The queue: order, hold, remove, and the number of runs trained at the same time.
class QueuePanel : public QWidget {
    Q_OBJECT

  public:
    QueuePanel(TrainingState& state, QWidget* parent);

    QueueList& list() { return *list_; }
    std::vector<std::string> selected() const { return selectedNames(*list_); }
    void select(const std::vector<std::string>& runs);
    /// "3 runs to train: about 12 min on this machine, done at 14:35": expected time of all queued runs that
    /// are not held.
    QString timeLeft() const;
    /// "CPU 87 %, memory 5.2 of 24 GB".
    QString load();

  signals:
    void reported(const QString& message);

  private:
    /// Reports the error of an action.
    void attempt(const std::function<void()>& act);
    /// A button whose errors are reported. @param texts  all labels that it may have
    QPushButton* makeButton(const QStringList& texts, const QString& help, const std::function<void()>& act);
    std::vector<std::string> listed() const;
    void showQueue();
    void showButtons();
    void toggleHold();
    void openMenu(const QPoint& at);

    TrainingState& state_;
    QueueLauncher& queue_;
    RunStore& store_;
    QueueList* list_;
    QSpinBox* at_once_;
    QLabel *problem_, *time_left_, *load_;
    std::vector<std::string> estimated_runs_;  ///< runs covered by the time estimate
    MachineLoadReader load_reader_;
    QPushButton *up_, *down_, *hold_, *remove_, *clear_, *approve_;
    QTimer estimate_timer_, estimate_delay_;  ///< regular updates; the next one after changes
};

}  // namespace roper
