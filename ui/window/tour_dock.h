#pragma once

#include <QDockWidget>
#include <QFrame>
#include <QPointer>
#include <functional>

#include "ui/tour/page_overlays.h"
#include "ui/tour/tour_panel.h"

namespace roper {

/// The guided tour at the left of the window: loads it, marks controls of the current page, and remembers the
/// reader's position.
class TourDock : public QDockWidget {
    Q_OBJECT

  public:
    /// @param page  returns the current page
    TourDock(QWidget* window, std::function<QWidget*()> page);
    ~TourDock() override { delete cover_; }

    /// Replaces the bundled tour, for example by one that a teacher wrote.
    void setTour(Tour tour);

    /// Shows the tour at a stop, or at the last position.
    /// @throws Error (usage) if there is no such stop, or the bundled tour cannot be read
    void start(const QString& stop = {});

    TourPanel& panel() { return *panel_; }
    const QWidget* marked() const { return marker_->marked(); }
    /// The widget that is hidden until an answer is chosen; null: none.
    const QWidget* covered() const { return cover_ ? cover_->covered() : nullptr; }

  signals:
    /// Emitted when the page and setup of a stop are to be shown.
    void stopReached(const roper::TourStop& stop);
    /// Emitted when the tour has ended or has been closed.
    void left();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    QString key() const;  ///< settings key of the reader's position
    /// Covers and marks widgets as the stop requires, while the tour is visible.
    void showOnPage();

    std::function<QWidget*()> page_;  ///< returns the current page
    QPointer<QWidget> page_of_stop_;
    bool is_covering_ = false;  ///< whether the page of the stop is to be covered
    QString control_;           ///< name of the control to mark; empty: none
    TourPanel* panel_;
    ControlMarker* marker_;
    QPointer<PageCover> cover_ = new PageCover;  ///< owned by the covered page, if any
};

/// A banner above the pages at the first start that offers the tour.
class TourInvitation : public QFrame {
    Q_OBJECT

  public:
    explicit TourInvitation(QWidget* parent);

    /// Shows it unless it has been answered before.
    void offer();

  signals:
    void accepted();

  private:
    void answer();
};

}  // namespace roper
