#include "ui/pages/rotation/two_vectors_view.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "core/rotary/scores.h"
#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/label_placer.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kWide = 470;         // minimum width in pixels for all numbers beside the circle
constexpr double kNumbers = 236;      // width of the numbers
constexpr double kShortNumbers = 44;  // height of the few numbers above the circle in narrower figures

/// "5" or, with a shift, "3 + 2 = 5".
QString signedPosition(double position, double shift) {
    const QString sum = numberText(position + shift, 8);
    if (shift == 0) return sum;
    return QStringLiteral("%1 %2 %3 = %4")
        .arg(numberText(position, 8), shift < 0 ? QStringLiteral("−") : QStringLiteral("+"))
        .arg(std::abs(shift), 0, 'g', 8)
        .arg(sum);
}

}  // namespace

TwoVectorsView::TwoVectorsView(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("two-vectors"), tr("A query and a key rotated by their positions")),
      state_(state) {
    setCursor(Qt::OpenHandCursor);
    connect(&state_, &RotationState::changed, this, qOverload<>(&QWidget::update));
}

TwoVectorsView::Scene TwoVectorsView::scene(const QRectF& area) const {
    const Setup& s = state_.setup();
    const Rotary& rotary = state_.rotary();
    const auto [first, second] = rotary.plane(s.pair);
    const Eigen::VectorXd q = rotate(rotary, s.x, s.position + s.shift),
                          k = rotate(rotary, s.y, s.key_position + s.shift);
    Scene scene;
    scene.q = {s.x[first], s.x[second]};
    scene.k = {s.y[first], s.y[second]};
    scene.q_rotated = {q[first], q[second]};
    scene.k_rotated = {k[first], k[second]};
    scene.score = q.dot(k);
    scene.score_unshifted = relativeScore(rotary, s.x, s.position, s.y, s.key_position);
    scene.pair_part = q[first] * k[first] + q[second] * k[second];
    scene.angle = std::remainder(std::atan2(scene.q_rotated.y(), scene.q_rotated.x()) -
                                     std::atan2(scene.k_rotated.y(), scene.k_rotated.x()),
                                 2 * M_PI);
    const double longest = std::max({1.0, lengthOf(scene.q), lengthOf(scene.k)});
    // The scale is fixed while an arrow is dragged.
    const double fitting = std::ceil(2 * longest) / 2;
    scene.is_narrow = area.width() < kWide;
    // The numbers are left of the circle, in narrow figures above it.
    const QRectF circle_area =
        scene.is_narrow ? area.adjusted(0, kShortNumbers, 0, 0) : area.adjusted(kNumbers, 0, 0, 0);
    scene.plane = PlaneFrame::in(circle_area.adjusted(30, 22, -30, -22),
                                 dragged_ == Dragged::nothing ? fitting : drag_extent_);
    return scene;
}

QString TwoVectorsView::summary(const Scene& at) const {
    const Setup& s = state_.setup();
    if (at.is_narrow)
        return tr("δ = n − j = %1\n⟨R(n)q, R(j)k⟩ = %2")
            .arg(signedPosition(s.position - s.key_position, 0), fixedNumberText(at.score, 6));
    const double change = at.score - at.score_unshifted;
    return tr("query at n = %1\nkey at j = %2\nδ = n − j = %3\n\n⟨R(n)q, R(j)k⟩ = %4\n  from pair %5: "
              "%6\n\nangle between the arrows\n  %7 rad = %8°\n\n")
               .arg(signedPosition(s.position, s.shift), signedPosition(s.key_position, s.shift),
                    signedPosition(s.position - s.key_position, 0), fixedNumberText(at.score, 6))
               .arg(s.pair)
               .arg(fixedNumberText(at.pair_part, 6), fixedNumberText(at.angle, 4),
                    fixedNumberText(at.angle * 180 / M_PI, 1)) +
           (s.shift == 0 ? tr("Change S: both arrows rotate,\nthe angle between them stays.")
                         : tr("Shifting both by S = %1\nchanges the product by\n  %2")
                               .arg(signedPosition(s.shift, 0), numberText(change, 2)));
}

void TwoVectorsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const Scene at = scene(area);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.frame, 1.2));
    painter.drawEllipse(at.plane.center, at.plane.unit, at.plane.unit);
    painter.setPen(QPen(theme.grid, 1));
    const double edge = 0.97 * at.plane.extent;
    painter.drawLine(at.plane.onScreen({-edge, 0}), at.plane.onScreen({edge, 0}));
    painter.drawLine(at.plane.onScreen({0, -edge}), at.plane.onScreen({0, edge}));
    // The angle between the rotated arrows, from key to query.
    const double radius = 0.34 * at.plane.unit;
    const double start = std::atan2(at.k_rotated.y(), at.k_rotated.x());
    painter.setPen(QPen(theme.pair(state_.setup().pair, state_.setup().pairs()), 2.4));
    painter.drawArc(QRectF(at.plane.center - QPointF(radius, radius), QSizeF(2 * radius, 2 * radius)),
                    static_cast<int>(std::lround(start * 16 * 180 / M_PI)),
                    static_cast<int>(std::lround(at.angle * 16 * 180 / M_PI)));
    const QPointF origin = at.plane.center;
    drawArrow(painter, origin, at.plane.onScreen(at.q), theme.ghost(Theme::query()), 2);
    drawArrow(painter, origin, at.plane.onScreen(at.k), theme.ghost(Theme::key()), 2);
    drawArrow(painter, origin, at.plane.onScreen(at.q_rotated), Theme::query(), 3.2);
    drawArrow(painter, origin, at.plane.onScreen(at.k_rotated), Theme::key(), 3.2);
    LabelPlacer labels(area.adjusted(4, 4, -4, -4));
    labels.drawAt(painter, summary(at), area.adjusted(12, 10, -8, -8), Qt::AlignTop | Qt::AlignLeft,
                  theme.text);
    labels.avoid(at.plane.onScreen({-edge, 0}), at.plane.onScreen({edge, 0}));
    labels.avoid(at.plane.onScreen({0, -edge}), at.plane.onScreen({0, edge}));
    for (const QPointF& tip : {at.q, at.k, at.q_rotated, at.k_rotated})
        labels.avoid(origin, at.plane.onScreen(tip));
    const auto label = [&](const QPointF& tip, const QString& text, const QColor& color) {
        const QPointF end = at.plane.onScreen(tip);
        labels.draw(painter, text, end, directionOf(origin, end), color);
    };
    const QFont plain = painter.font();
    painter.setFont(boldFont(plain));
    const bool is_shifted = state_.setup().shift != 0;
    label(at.q_rotated, is_shifted ? QStringLiteral("R(n + S)q") : QStringLiteral("R(n)q"), theme.text);
    label(at.k_rotated, is_shifted ? QStringLiteral("R(j + S)k") : QStringLiteral("R(j)k"), theme.text);
    painter.setFont(plain);
    label(at.q, QStringLiteral("q"), theme.faint_text);
    label(at.k, QStringLiteral("k"), theme.faint_text);
}

QString TwoVectorsView::figureCsv() const {
    const Scene at = scene(canvas());
    const Setup& s = state_.setup();
    CsvText csv(QStringLiteral("vector,position,x1,x2,rotated1,rotated2,score,pair_part,angle"));
    const auto row = [&](const char* name, double position, const QPointF& x, const QPointF& rotated) {
        csv.line(name, position, x.x(), x.y(), rotated.x(), rotated.y(), at.score, at.pair_part, at.angle);
    };
    row("query", s.position + s.shift, at.q, at.q_rotated);
    row("key", s.key_position + s.shift, at.k, at.k_rotated);
    return csv.text();
}

QString TwoVectorsView::figureCaption() const {
    const Setup& s = state_.setup();
    return tr("Query at %1 and key at %2, both shifted by %3: pair %4, d = %5, base %6")
        .arg(s.position)
        .arg(s.key_position)
        .arg(s.shift)
        .arg(s.pair)
        .arg(s.head_dim)
        .arg(s.base);
}

void TwoVectorsView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Scene at = scene(canvas());
    const auto distance = [&](const QPointF& tip) {
        return lengthOf(at.plane.onScreen(tip) - event->position());
    };
    const std::tuple<double, Dragged, bool> tips[] = {{distance(at.q_rotated), Dragged::query, true},
                                                      {distance(at.k_rotated), Dragged::key, true},
                                                      {distance(at.q), Dragged::query, false},
                                                      {distance(at.k), Dragged::key, false}};
    const auto& [nearest, which, rotated] =
        *std::min_element(std::begin(tips), std::end(tips),
                          [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    constexpr double kReach = 36;  // pixels
    if (nearest > kReach) return;
    drag_extent_ = at.plane.extent;
    dragged_ = which;
    dragged_rotated_ = rotated;
    setCursor(Qt::ClosedHandCursor);
}

void TwoVectorsView::mouseMoveEvent(QMouseEvent* event) {
    if (dragged_ != Dragged::nothing) dragTo(event->position());
    const Scene at = scene(canvas());
    emit hovered(
        tr("q = (%1, %2)    k = (%3, %4)    ⟨R(n)q, R(j)k⟩ = %5    from this pair %6    drag any arrow")
            .arg(fixedNumberText(at.q.x(), 4), fixedNumberText(at.q.y(), 4), fixedNumberText(at.k.x(), 4),
                 fixedNumberText(at.k.y(), 4), fixedNumberText(at.score, 6),
                 fixedNumberText(at.pair_part, 6)));
}

void TwoVectorsView::mouseReleaseEvent(QMouseEvent*) {
    dragged_ = Dragged::nothing;
    setCursor(Qt::OpenHandCursor);
    update();
}

/// The dragged arrow follows the pointer; dragging a rotated arrow sets its vector by the inverse rotation.
void TwoVectorsView::dragTo(const QPointF& point) {
    Setup s = state_.setup();
    const bool is_query = dragged_ == Dragged::query;
    const double angle = !dragged_rotated_ ? 0.0
                                           : -((is_query ? s.position : s.key_position) + s.shift) *
                                                 state_.rotary().frequency(s.pair);
    const QPointF p = snappedToGrid(rotatedBy(scene(canvas()).plane.inPlane(point), angle));
    const auto [first, second] = state_.rotary().plane(s.pair);
    Eigen::VectorXd& vector = is_query ? s.x : s.y;
    vector[first] = p.x();
    vector[second] = p.y();
    state_.selection().set(s, is_query ? tr("Query q") : tr("Key k"));
}

}  // namespace roper
