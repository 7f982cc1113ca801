#include "ui/window/tour_dock.h"

#include <QSettings>

#include "core/base/error.h"
#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr auto kAnswered = "tour/invitation_answered";

}  // namespace

TourDock::TourDock(QWidget* window, std::function<QWidget*()> page)
    : QDockWidget(tr("Guided tour"), window),
      page_(std::move(page)),
      panel_(new TourPanel(this)),
      marker_(new ControlMarker(window)) {
    setObjectName("tour");
    setWidget(panel_);
    hide();
    connect(panel_, &TourPanel::stopReached, this, [this](const TourStop& stop) {
        QSettings().setValue(key(), QString::fromStdString(stop.name));
        emit stopReached(stop);
    });
    connect(panel_, &TourPanel::coverChanged, this, [this](bool covered) {
        page_of_stop_ = page_();
        is_covering_ = covered;
        showOnPage();
    });
    connect(panel_, &TourPanel::controlChanged, this, [this](const QString& control) {
        control_ = control;
        showOnPage();
    });
    connect(panel_, &TourPanel::tourEnded, this, [this] {
        QSettings().remove(key());  // the next tour starts at the beginning
        hide();
    });
    connect(this, &QDockWidget::visibilityChanged, this, [this] {
        showOnPage();
        if (isHidden()) emit left();  // false while the window is only minimized
    });
}

/// When a closed tour is shown again, it shows the page of its stop, at the stage that the reader had
/// reached.
void TourDock::showEvent(QShowEvent* event) {
    QDockWidget::showEvent(event);
    if (!event->spontaneous() && !panel_->tour().stops.empty()) emit stopReached(panel_->current());
}

QString TourDock::key() const {
    return QStringLiteral("tour/%1").arg(QString::fromStdString(panel_->tour().name));
}

void TourDock::setTour(Tour tour) {
    setWindowTitle(tr("Tour: %1").arg(plainTitle(plainCaption(QString::fromStdString(tour.title)))));
    panel_->setTour(std::move(tour));
}

void TourDock::start(const QString& stop) {
    if (panel_->tour().stops.empty()) setTour(bundledTour());
    if (!stop.isEmpty() && !panel_->goTo(stop))
        throw Error(ErrorKind::usage, "the tour has no stop \"" + stop.toStdString() + "\"; its stops are " +
                                          join(mapped(panel_->tour().stops, &TourStop::name), ", "));
    show();
    raise();
    if (!stop.isEmpty()) return;
    if (!panel_->goTo(QSettings().value(key()).toString())) panel_->goTo(0);
}

void TourDock::showOnPage() {
    const bool shown = isVisible() && page_of_stop_;
    if (cover_) cover_->cover(shown && is_covering_ ? page_of_stop_.data() : nullptr);
    marker_->mark(shown && !control_.isEmpty() ? controlNamed(*page_of_stop_, control_) : nullptr);
}

TourInvitation::TourInvitation(QWidget* parent) : QFrame(parent) {
    auto* text =
        wrappedLabel(tr("New here? A guided tour shows in ten minutes what RoPE makes relative, what RoPER "
                        "adds, and why its output must be rotated back."));
    auto* later = makeActionButton(tr("Not now"), tr("Help ▸ Guided tour starts it at any time"), this,
                                   &TourInvitation::answer);
    auto* start = makeActionButton(tr("Start the tour"), {}, this, [this] {
        answer();
        emit accepted();
    });
    rowOf({{text, 1}, later, start}, this)->setContentsMargins(16, 8, 16, 8);
    start->setDefault(true);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::AlternateBase);
    hide();
}

void TourInvitation::offer() {
    setVisible(!QSettings().value(kAnswered).toBool());
}

void TourInvitation::answer() {
    QSettings().setValue(kAnswered, true);
    hide();
}

}  // namespace roper
