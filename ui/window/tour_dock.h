#pragma once

#include <QDockWidget>
#include <QFrame>
#include <QPointer>
#include <functional>

#include "ui/tour/control_marker.h"
#include "ui/tour/page_cover.h"
#include "ui/tour/tour_panel.h"

namespace roper {

/// The guided tour at the window's left side: loads it, marks controls of the shown page, and keeps the place
/// where the reader was.
class TourDock : public QDockWidget {
    Q_OBJECT

  public:
    /// @param page  the page that is in front
    TourDock(QWidget* window, std::function<QWidget*()> page);
    ~TourDock() override { delete cover_; }

    /// Another tour than the bundled one, such as a teacher's.
    void setTour(Tour tour);

    /// Shows the tour: at a stop, or where the reader left it.
    /// @throws Error (usage) if there is no such stop, or the bundled tour cannot be read
    void start(const QString& stop = {});

    TourPanel& panel() { return *panel_; }
    const QWidget* marked() const { return marker_->marked(); }
    /// What is hidden until an answer is chosen; null: nothing.
    const QWidget* covered() const { return cover_ ? cover_->covered() : nullptr; }

  signals:
    /// The page and the setup of this stop are to be shown.
    void arrived(const roper::TourStop& stop);

  private:
    void load();
    QString key() const;  ///< of the settings: where the reader was
    /// Covers and marks what the stop asks for, while the tour is shown.
    void showOnPage();

    std::function<QWidget*()> page_;
    QPointer<QWidget> page_of_stop_;
    bool covers_ = false;
    QString control_;  ///< that is marked
    TourPanel* panel_;
    ControlMarker* marker_;
    QPointer<PageCover> cover_ = new PageCover;  ///< belongs to the page that it covers, while it does
};

/// Above the pages at the first start: whether one wants to be shown around.
class TourInvitation : public QFrame {
    Q_OBJECT

  public:
    explicit TourInvitation(QWidget* parent);

    /// Shows it, unless it was answered before.
    void offer();

  signals:
    void accepted();

  private:
    void answer();
};

}  // namespace roper
