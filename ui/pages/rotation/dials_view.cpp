#include "ui/pages/rotation/dials_view.h"

#include <QMouseEvent>
#include <cmath>
#include <numbers>

#include "ui/charts/csv_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/type_scale.h"

namespace roper {
namespace {

constexpr double kMaxDial = 180;
constexpr double kLabelNeeds = 44;  // smaller dials have no label

}  // namespace

DialsView::DialsView(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("dials"), tr("One dial for each pair, fast to slow")), state_(state) {
    connect(&state_, &RotationState::changed, this, qOverload<>(&QWidget::update));
}

/// The number of columns that gives the largest dials.
int DialsView::columns(const QRectF& area) const {
    int best = 1;
    double largest = 0;
    for (int count = 1; count <= pairs(); ++count) {
        const int rows = (pairs() + count - 1) / count;
        const double side = std::min(area.width() / count, area.height() / rows);
        if (side > largest) {
            largest = side;
            best = count;
        }
    }
    return best;
}

QRectF DialsView::cell(const QRectF& area, int pair) const {
    const int across = columns(area);
    const int down = (pairs() + across - 1) / across;
    const double side = std::min({area.width() / across, area.height() / down, kMaxDial});
    const QPointF corner = area.center() - QPointF(across * side / 2, down * side / 2);
    return {corner.x() + (pair % across) * side, corner.y() + (pair / across) * side, side, side};
}

int DialsView::pairAt(const QPointF& at) const {
    for (int pair = 0; pair < pairs(); ++pair)
        if (cell(canvas(), pair).contains(at)) return pair;
    return -1;
}

void DialsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    painter.setRenderHint(QPainter::Antialiasing);
    const Rotary& rotary = state_.rotary();
    const Eigen::VectorXd& rotated = state_.rotated();
    painter.setFont(smallFont(painter.font()));
    for (int pair = 0; pair < pairs(); ++pair) {
        const QRectF box = cell(area, pair);
        const bool labelled = box.width() > kLabelNeeds;
        const double label_height = labelled ? painter.fontMetrics().height() : 0;
        const QPointF center = box.center() - QPointF(0, label_height / 2);
        const double radius = (box.width() - label_height) / 2 - 3;
        const bool rotates = pair < rotary.pairs();
        const QColor color = rotates ? theme.pair(pair, rotary.pairs()) : theme.frame;
        const bool selected = pair == state_.setup().pair;
        painter.setBrush(selected ? theme.faded(color, 0.18) : Qt::transparent);
        painter.setPen(
            QPen(selected ? color : theme.frame, selected ? 2 : 1, rotates ? Qt::SolidLine : Qt::DotLine));
        painter.drawEllipse(center, radius, radius);
        const auto [first, second] = rotary.plane(pair);
        const auto hand = [&, first = first, second = second](const Eigen::VectorXd& v, const QColor& shade,
                                                              double width) {
            const double length = std::hypot(v[first], v[second]);
            if (length == 0) return;
            const QPointF tip = center + 0.88 * radius / length * QPointF(v[first], -v[second]);
            painter.setPen(QPen(shade, width, Qt::SolidLine, Qt::RoundCap));
            painter.drawLine(center, tip);
        };
        hand(state_.x(), theme.ghost(color), 1.2);
        hand(rotated, color, radius > 16 ? 2.6 : 1.8);
        if (labelled) {
            // The frequency, if there is room.
            const QString frequency = rotates ? numberText(rotary.frequency(pair), 3) : QStringLiteral("0");
            const QString full = withSubscript(QStringLiteral("θ"), pair) + QStringLiteral(" = ") + frequency;
            const bool fits = painter.fontMetrics().horizontalAdvance(full) + 4 < box.width();
            drawColoredText(painter, QRectF(box.left(), center.y() + radius + 1, box.width(), label_height),
                            Qt::AlignCenter, fits ? full : QString::number(pair),
                            selected ? theme.text : theme.faint_text);
        }
    }
}

QString DialsView::figureCsv() const {
    const Rotary& rotary = state_.rotary();
    const Eigen::VectorXd& rotated = state_.rotated();
    CsvText csv(QStringLiteral("pair,theta,wavelength,angle,x1,x2,rotated1,rotated2"));
    for (int pair = 0; pair < pairs(); ++pair) {
        const auto [first, second] = rotary.plane(pair);
        const double theta = rotary.frequency(pair);
        csv.line(pair, theta, 2 * std::numbers::pi / theta, state_.setup().position * theta,
                 state_.x()[first], state_.x()[second], rotated[first], rotated[second]);
    }
    return csv.text();
}

QString DialsView::figureCaption() const {
    return tr("Every pair at position %1, fast to slow: d = %2, base %3")
        .arg(state_.setup().position, 0, 'g', 6)
        .arg(state_.setup().head_dim)
        .arg(state_.setup().base, 0, 'g', 6);
}

void DialsView::mousePressEvent(QMouseEvent* event) {
    const int pair = pairAt(event->position());
    if (event->button() != Qt::LeftButton || pair < 0) return;
    state_.selection().change(tr("Pair i"), [&](Setup& s) { s.pair = pair; });
}

void DialsView::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& pair = state_.selection().hovered().pair;
    if (!pair || *pair >= pairs()) return;
    paintFrame(painter, cell(canvas(), *pair).adjusted(1, 1, -1, -1), theme);
}

void DialsView::mouseMoveEvent(QMouseEvent* event) {
    const int pair = pairAt(event->position());
    if (pair < 0) return emit hovered({});
    state_.selection().hoverState().set({.pair = pair});
    const double theta = state_.rotary().frequency(pair);
    if (theta == 0) return emit hovered(tr("pair %1    does not rotate: θ = 0").arg(pair));
    emit hovered(tr("pair %1    θ = %2 rad per position    wavelength λ = %3 positions    mθ = %4 rad")
                     .arg(pair)
                     .arg(theta, 0, 'g', 6)
                     .arg(2 * std::numbers::pi / theta, 0, 'g', 6)
                     .arg(state_.setup().position * theta, 0, 'g', 6));
}

}  // namespace roper
