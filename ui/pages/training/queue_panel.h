#pragma once

#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QTreeWidget>

#include "ui/live/queue_launcher.h"
#include "ui/live/run_store.h"

namespace roper {

/// The runs that wait, first come first: move, hold, remove, and how many train at the same time.
class QueuePanel : public QWidget {
    Q_OBJECT

  public:
    QueuePanel(QueueLauncher& queue, RunStore& store, QWidget* parent);

    QTreeWidget& list() { return *list_; }
    void select(const std::string& run);
    QPushButton* button(const QString& text) const;

  signals:
    void said(const QString& message);

  private:
    QPushButton* makeButton(const QStringList& texts, const QString& help, const std::function<void()>& act);
    std::string selected() const;
    void showQueue();
    void showButtons();
    void toggleHold();
    void removeSelected();
    void openFile();

    QueueLauncher& queue_;
    RunStore& store_;
    QTreeWidget* list_;
    QSpinBox* at_once_;
    QLabel* problem_;
    QPushButton *up_, *down_, *hold_, *remove_, *accept_;
};

}  // namespace roper
