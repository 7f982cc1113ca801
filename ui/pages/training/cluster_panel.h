#pragma once

#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>

#include "ui/live/cluster_watch.h"
#include "ui/pages/training/named_item.h"
#include "ui/pages/training/sweep_grid_view.h"

namespace roper {

/// The runs of this folder that were submitted to a cluster: their states with reasons, and the possible
/// actions.
class ClusterPanel : public QWidget {
    Q_OBJECT

  public:
    ClusterPanel(const std::filesystem::path& runs, QWidget* parent);

    ClusterWatch& watch() { return *watch_; }
    SweepGridView& grid() { return *grid_; }
    QTreeWidget& list() { return *list_; }
    std::vector<std::string> selected() const { return selectedNames(*list_); }
    /// Shows a given state without querying the scheduler; for exported figures.
    void show(const ClusterView& view);

  signals:
    void reported(const QString& message);
    void hovered(const QString& readout);
    void runRequested(const QString& name);  ///< to be shown in the list of runs

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    void showWatched();
    void showButtons();
    std::vector<std::string> selectedIf(bool (*fits)(const SweepRunStatus&)) const;
    void cancelSelected();

    ClusterWatch* watch_;
    SweepGridView* grid_;
    QTreeWidget* list_;
    QLabel *summary_, *problem_;
    QPushButton *cancel_, *requeue_, *submit_;
};

}  // namespace roper
