#include "ui/pages/rotation/circle_view.h"

#include <QLineF>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/label_placer.h"
#include "ui/charts/plane_frame.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kMaxTrailPoints = 400;
constexpr double kFullRotation = 2 * std::numbers::pi;

}  // namespace

/// The plane of the pair on the screen, and the pair's rotation.
struct CircleView::Plane : PlaneFrame {
    PairFeatures features;
    double theta, angle, position;  ///< θ in radians per position, mθ in radians, m
    QPointF x, y;                   ///< before and after rotation, in the plane
};

CircleView::CircleView(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("rotation"),
                 tr("Unit circle with the selected pair before and after rotation")),
      state_(state) {
    setCursor(Qt::OpenHandCursor);
    connect(&state_, &RotationState::changed, this, qOverload<>(&QWidget::update));
}

CircleView::Plane CircleView::plane(const QRectF& area) const {
    const Setup& setup = state_.setup();
    const Rotary& rotary = state_.rotary();
    Plane plane;
    plane.features = rotary.plane(setup.pair);
    plane.theta = rotary.frequency(setup.pair);
    plane.position = setup.position;
    plane.angle = setup.position * plane.theta;
    const Eigen::VectorXd& rotated = state_.rotated();
    plane.x = {state_.x()[plane.features.first], state_.x()[plane.features.second]};
    plane.y = {rotated[plane.features.first], rotated[plane.features.second]};
    const double length = lengthOf(plane.x);
    // Rounded up in steps, so that the scale is stable while a vector is dragged.
    const double fitting = std::max(1.0, std::ceil(length * 2.0) / 2.0) * 1.18;
    // In a low figure the circle is beside the text instead of below it.
    constexpr double kLow = 300, kText = 190;  // pixels: height of a low figure, width of the text
    const double left = area.height() < kLow ? std::clamp(area.width() - area.height(), 0.0, kText) : 0.0;
    // The scale is fixed while an arrow is dragged.
    static_cast<PlaneFrame&>(plane) = PlaneFrame::in(area.adjusted(left + 8, 8, -8, -8),
                                                     dragged_ == Dragged::nothing ? fitting : drag_extent_);
    return plane;
}

void CircleView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const Plane at = plane(area);
    painter.setRenderHint(QPainter::Antialiasing);
    paintGrid(painter, at, theme);
    paintTrail(painter, at, theme);
    paintArc(painter, at, theme);
    const QPointF x = at.onScreen(at.x), rotated = at.onScreen(at.y);
    drawArrow(painter, at.center, x, Theme::query(), 3);
    drawArrow(painter, at.center, rotated, Theme::output(), 3);
    LabelPlacer labels(area.adjusted(4, 4, -4, -4));
    labels.drawAt(painter, angleText(at), area.adjusted(12, 8, -8, -8), Qt::AlignTop | Qt::AlignLeft,
                  theme.text);
    for (const QPointF& tip : {x, rotated})
        labels.avoid(at.center, tip);
    const double edge = at.extent * 0.97;
    labels.avoid(at.onScreen({-edge, 0}), at.onScreen({edge, 0}));
    labels.avoid(at.onScreen({0, -edge}), at.onScreen({0, edge}));
    const QFont plain = painter.font();
    painter.setFont(boldFont(plain));
    const bool apart = lengthOf(at.x - at.y) > 0.04 * at.extent;
    if (apart)
        labels.draw(painter, QStringLiteral("R(m)x"), rotated, directionOf(at.center, rotated), theme.text);
    labels.draw(painter, QStringLiteral("x"), x, directionOf(at.center, x), theme.text);
    painter.setFont(plain);
    labels.draw(painter, withSubscript(QStringLiteral("x"), at.features.first), at.onScreen({edge, 0}),
                {0, 1}, theme.faint_text);
    labels.draw(painter, withSubscript(QStringLiteral("x"), at.features.second), at.onScreen({0, edge}),
                {1, 0}, theme.faint_text);
    labels.draw(painter, QStringLiteral("1"), at.onScreen({1, 0}), {0.7, -0.7}, theme.faint_text);
}

QString CircleView::angleText(const Plane& at) const {
    if (state_.setup().pair >= state_.rotary().pairs())
        return tr("pair %1 does not rotate:\nonly %2 of %3 features do")
            .arg(state_.setup().pair)
            .arg(state_.rotary().rotatedWidth())
            .arg(state_.setup().head_dim);
    return tr("pair %1   θ = %2\nmθ = %3 rad = %4 rotations\n|x| = |R(m)x| = %5")
        .arg(state_.setup().pair)
        .arg(numberText(at.theta))
        .arg(fixedNumberText(at.angle, 3), fixedNumberText(at.angle / kFullRotation, 3),
             fixedNumberText(lengthOf(at.x), 3));
}

void CircleView::paintGrid(QPainter& painter, const Plane& at, const Theme& theme) const {
    painter.setPen(QPen(theme.grid, 1));
    const double edge = at.extent * 0.97;
    painter.drawLine(at.onScreen({-edge, 0}), at.onScreen({edge, 0}));
    painter.drawLine(at.onScreen({0, -edge}), at.onScreen({0, edge}));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.frame, 1.2));
    painter.drawEllipse(at.center, at.unit, at.unit);
    const double length = lengthOf(at.x);
    if (std::abs(length - 1.0) > 0.02) {
        painter.setPen(QPen(theme.grid, 1, Qt::DashLine));
        painter.drawEllipse(at.center, length * at.unit, length * at.unit);
    }
}

void CircleView::paintTrail(QPainter& painter, const Plane& at, const Theme& theme) const {
    const int passed = static_cast<int>(std::min<double>(std::floor(std::abs(at.position)), kMaxTrailPoints));
    const double direction = at.position < 0 ? -1 : 1;
    const double first = std::floor(std::abs(at.position)) - passed;
    const double start = std::atan2(at.x.y(), at.x.x());
    const double length = lengthOf(at.x);
    painter.setPen(Qt::NoPen);
    for (int i = 0; i < passed; ++i) {
        const double m = direction * (first + i);
        const double opacity = 0.15 + 0.45 * static_cast<double>(i + 1) / passed;
        painter.setBrush(theme.faded(Theme::output(), opacity));
        const double angle = start + m * at.theta;
        painter.drawEllipse(at.onScreen({length * std::cos(angle), length * std::sin(angle)}), 3.2, 3.2);
    }
}

/// The arc from x to R(m)x, as a spiral so that full rotations can be counted.
void CircleView::paintArc(QPainter& painter, const Plane& at, const Theme& theme) const {
    if (std::abs(at.angle) < 1e-3) return;
    const double start = std::atan2(at.x.y(), at.x.x());
    const double rotations = std::abs(at.angle) / kFullRotation;
    const double shown = std::min(rotations, 8.0) * kFullRotation * (at.angle < 0 ? -1 : 1);
    const int steps = 24 + static_cast<int>(60 * std::abs(shown) / kFullRotation);
    const double inner = 0.22, outer = rotations > 1 ? 0.48 : 0.22;
    QPolygonF spiral;
    for (int i = 0; i <= steps; ++i) {
        const double fraction = static_cast<double>(i) / steps;
        const double radius = (inner + (outer - inner) * fraction) * at.extent;
        const double angle = start + at.angle - shown * (1 - fraction);
        spiral << at.onScreen({radius * std::cos(angle), radius * std::sin(angle)});
    }
    const QColor color = theme.pair(state_.setup().pair, state_.setup().head_dim / 2);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(color, 2));
    painter.drawPolyline(spiral);
    drawArrowHead(painter, spiral[spiral.size() - 2], spiral.back(), color, 8);
}

/// Marks the tip of R(p)x for the position p under the pointer, possibly in another figure.
void CircleView::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& position = state_.selection().hovered().position;
    if (!position) return;
    const Plane at = plane(canvas());
    paintRing(painter, at.onScreen(rotatedBy(at.x, *position * at.theta)), theme);
}

QString CircleView::figureCsv() const {
    const Plane at = plane(canvas());
    CsvText csv(QStringLiteral("position,theta,angle,x1,x2,rotated1,rotated2"));
    const int last = static_cast<int>(std::floor(std::abs(at.position)));
    QList<double> positions;
    for (int m = 0; m <= last; ++m)
        positions << (at.position < 0 ? -m : m);
    if (positions.back() != at.position) positions << at.position;
    for (const double m : positions) {
        const QPointF rotated = rotatedBy(at.x, m * at.theta);
        csv.line(m, at.theta, m * at.theta, at.x.x(), at.x.y(), rotated.x(), rotated.y());
    }
    return csv.text();
}

QString CircleView::figureCaption() const {
    const Setup& setup = state_.setup();
    return tr("Rotation of pair %1 at position %2: d = %3, base %4, %5 frequencies, %6 pairing")
        .arg(setup.pair)
        .arg(setup.position, 0, 'g', 6)
        .arg(setup.head_dim)
        .arg(setup.base, 0, 'g', 6)
        .arg(setup.frequency_formula == FrequencyFormula::standard ? tr("standard") : tr("worked-example"),
             setup.pairing == Pairing::half ? tr("half-split") : tr("interleaved"));
}

QString CircleView::readoutAt(const QPointF& point) const {
    const Plane at = plane(canvas());
    const QPointF p = at.inPlane(point);
    return tr("pointer (%1, %2)    x = (%3, %4)    R(m)x = (%5, %6)    length %7, preserved by the rotation")
        .arg(fixedNumberText(p.x(), 3), fixedNumberText(p.y(), 3), fixedNumberText(at.x.x(), 4),
             fixedNumberText(at.x.y(), 4), fixedNumberText(at.y.x(), 4), fixedNumberText(at.y.y(), 4),
             fixedNumberText(lengthOf(at.x), 4));
}

QPointF CircleView::tip(bool rotated) const {
    const Plane at = plane(canvas());
    return at.onScreen(rotated ? at.y : at.x);
}

void CircleView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    constexpr double kReach = 36;  // pixels
    const auto distance = [&](bool rotated) { return QLineF(tip(rotated), event->position()).length(); };
    if (std::min(distance(false), distance(true)) > kReach) return;
    drag_extent_ = plane(canvas()).extent;
    dragged_ = distance(false) <= distance(true) ? Dragged::vector : Dragged::rotated;
    setCursor(Qt::ClosedHandCursor);
}

void CircleView::mouseMoveEvent(QMouseEvent* event) {
    if (dragged_ != Dragged::nothing) dragTo(event->position());
    emit hovered(readoutAt(event->position()));
}

void CircleView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    dragged_ = Dragged::nothing;
    setCursor(Qt::OpenHandCursor);
    update();
}

/// The dragged arrow follows the pointer; dragging R(m)x sets x by the inverse rotation.
void CircleView::dragTo(const QPointF& point) {
    const Plane at = plane(canvas());
    const QPointF p =
        snappedToGrid(rotatedBy(at.inPlane(point), dragged_ == Dragged::rotated ? -at.angle : 0.0));
    state_.selection().change(tr("Vector x"), [&](Setup& s) {
        s.x[at.features.first] = p.x();
        s.x[at.features.second] = p.y();
    });
}

}  // namespace roper
