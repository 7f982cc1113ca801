#include "ui/pages/rotation/all_pairs_views.h"

#include <QMouseEvent>
#include <cmath>
#include <numbers>

#include "ui/charts/csv_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kMaxDial = 180;    // pixels
constexpr double kLabelNeeds = 44;  // smaller dials have no label

QColor colorOf(const Theme& theme, const Rotary& rotary, int pair) {
    return pair < rotary.pairs() ? theme.pair(pair, rotary.pairs()) : theme.frame;
}

}  // namespace

std::vector<int> pairOfFeature(const Rotary& rotary) {
    std::vector<int> pair(static_cast<std::size_t>(rotary.head_dim), -1);
    for (int i = 0; i < rotary.planes(); ++i) {
        const auto [first, second] = rotary.plane(i);
        pair[static_cast<std::size_t>(first)] = pair[static_cast<std::size_t>(second)] = i;
    }
    return pair;
}

BarsView::BarsView(RotationState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("vector"), tr("Features of the vector before and after rotation")),
      state_(state) {
    connect(&state_, &RotationState::changed, this, qOverload<>(&QWidget::update));
}

void BarsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const QRectF box = plot(area);
    const Eigen::VectorXd& rotated = state_.rotated();
    const Eigen::VectorXd& x = state_.x();
    const Rotary& rotary = state_.rotary();
    const std::vector<int> pairs = pairOfFeature(rotary);
    const double largest = std::max(
        {0.5, std::ceil(2 * x.cwiseAbs().maxCoeff()) / 2, std::ceil(2 * rotated.cwiseAbs().maxCoeff()) / 2});
    const auto y = [&](double value) { return box.center().y() - value / largest * box.height() / 2; };

    painter.setFont(smallFont(painter.font()));
    const auto d = static_cast<int>(x.size());
    const double step = box.width() / d;
    for (int feature = 0; feature < d; ++feature) {
        const int pair = pairs[static_cast<std::size_t>(feature)];
        if (pair != state_.setup().pair) continue;
        painter.fillRect(QRectF(box.left() + feature * step, box.top(), step, box.height()),
                         theme.faded(colorOf(theme, rotary, pair), 0.10));
    }
    for (const double mark : {-largest, 0.0, largest}) {
        painter.setPen(QPen(mark == 0 ? theme.frame : theme.grid, 1));
        painter.drawLine(QPointF(box.left(), y(mark)), QPointF(box.right(), y(mark)));
        drawColoredText(painter, QRectF(0, y(mark) - 10, box.left() - 6, 20), kRightMiddle, numberText(mark),
                        theme.faint_text);
    }

    const double width = std::min(26.0, step * 0.36);
    const int label_every = std::max(1, static_cast<int>(std::ceil(30 / step)));
    painter.setPen(Qt::NoPen);
    for (int feature = 0; feature < d; ++feature) {
        const int pair = pairs[static_cast<std::size_t>(feature)];
        const QColor color = colorOf(theme, rotary, pair);
        const double middle = box.left() + (feature + 0.5) * step;
        const auto bar = [&](double from, double value, const QColor& shade) {
            painter.fillRect(QRectF(QPointF(from, y(0)), QPointF(from + width, y(value))).normalized(),
                             shade);
        };
        bar(middle - width, x[feature], theme.faded(color, 0.35));
        bar(middle, rotated[feature], color);
        if (feature % label_every == 0) {
            drawColoredText(painter, QRectF(middle - 24, box.bottom() + 4, 48, 16), Qt::AlignCenter,
                            QString::number(feature), theme.faint_text);
            painter.setPen(Qt::NoPen);
        }
    }
    paintLegend(painter, area, theme);
}

/// Explains pale and strong bars, in the color of the chosen pair.
void BarsView::paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const {
    constexpr double kSwatch = 10, kGap = 5;
    const QColor color = colorOf(theme, state_.rotary(), state_.setup().pair);
    double left = area.left() + 44;
    for (const auto& [text, shade] :
         {std::pair{tr("x, before"), theme.faded(color, 0.35)}, {tr("R(m)x, after"), color}}) {
        painter.fillRect(QRectF(left, area.top() + 8, kSwatch, kSwatch), shade);
        left += kSwatch + kGap;
        const double width = painter.fontMetrics().horizontalAdvance(text);
        drawColoredText(painter, QRectF(left, area.top() + 4, width + 2, 18), kLeftMiddle, text, theme.text);
        left += width + 3 * kGap;
    }
    drawColoredText(painter, QRectF(left, area.top() + 4, area.right() - 12 - left, 18), kRightMiddle,
                    painter.fontMetrics().elidedText(tr("by feature"), Qt::ElideRight,
                                                     static_cast<int>(area.right() - 12 - left)),
                    theme.faint_text);
}

QString BarsView::figureCsv() const {
    const Eigen::VectorXd& rotated = state_.rotated();
    const std::vector<int> pairs = pairOfFeature(state_.rotary());
    CsvText csv(QStringLiteral("feature,pair,before,after"));
    for (int i = 0; i < rotated.size(); ++i)
        csv.line(i, pairs[static_cast<std::size_t>(i)], state_.x()[i], rotated[i]);
    return csv.text();
}

QString BarsView::figureCaption() const {
    return tr("The vector before (pale) and after (strong) rotation at position %1, d = %2")
        .arg(state_.setup().position, 0, 'g', 6)
        .arg(state_.setup().head_dim);
}

/// Marks the features of the pair under the pointer, possibly in another figure.
void BarsView::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& pair = state_.selection().hovered().pair;
    if (!pair || *pair >= state_.rotary().planes()) return;
    const QRectF box = plot(canvas());
    const double step = box.width() / static_cast<double>(state_.x().size());
    const auto [first, second] = state_.rotary().plane(*pair);
    for (const auto feature : {first, second})
        paintFrame(painter,
                   QRectF(box.left() + static_cast<double>(feature) * step, box.top(), step, box.height()),
                   theme);
}

void BarsView::mouseMoveEvent(QMouseEvent* event) {
    const QRectF box = plot(canvas());
    const int feature = static_cast<int>(std::floor((event->position().x() - box.left()) / box.width() *
                                                    static_cast<double>(state_.x().size())));
    if (feature < 0 || feature >= state_.x().size()) return emit hovered({});
    const int pair = pairOfFeature(state_.rotary())[static_cast<std::size_t>(feature)];
    state_.selection().hoverState().set({.pair = pair});
    emit hovered(tr("feature %1    before %2    after %3    pair %4%5")
                     .arg(feature)
                     .arg(state_.x()[feature], 0, 'f', 6)
                     .arg(state_.rotated()[feature], 0, 'f', 6)
                     .arg(pair)
                     .arg(pair < state_.rotary().pairs() ? QString() : tr(", does not rotate")));
}

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
        const bool labeled = box.width() > kLabelNeeds;
        const double label_height = labeled ? painter.fontMetrics().height() : 0;
        const QPointF center = box.center() - QPointF(0, label_height / 2);
        const double radius = (box.width() - label_height) / 2 - 3;
        const bool rotates = pair < rotary.pairs();
        const QColor color = colorOf(theme, rotary, pair);
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
        if (labeled) {
            // The label gives the frequency if there is room, otherwise only the index of the pair.
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
