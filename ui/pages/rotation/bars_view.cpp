#include "ui/pages/rotation/bars_view.h"

#include <QMouseEvent>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/theme/type_scale.h"

namespace roper {

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
        painter.fillRect(
            QRectF(box.left() + feature * step, box.top(), step, box.height()),
            theme.faded(pair < rotary.pairs() ? theme.pair(pair, rotary.pairs()) : theme.frame, 0.10));
    }
    for (const double mark : {-largest, 0.0, largest}) {
        painter.setPen(QPen(mark == 0 ? theme.frame : theme.grid, 1));
        painter.drawLine(QPointF(box.left(), y(mark)), QPointF(box.right(), y(mark)));
        drawColoredText(painter, QRectF(0, y(mark) - 10, box.left() - 6, 20), kRightMiddle,
                        QString::number(mark).replace('-', QChar(0x2212)), theme.faint_text);
    }

    const double width = std::min(26.0, step * 0.36);
    const int label_every = std::max(1, static_cast<int>(std::ceil(30 / step)));
    painter.setPen(Qt::NoPen);
    for (int feature = 0; feature < d; ++feature) {
        const int pair = pairs[static_cast<std::size_t>(feature)];
        const QColor color = pair < rotary.pairs() ? theme.pair(pair, rotary.pairs()) : theme.frame;
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

/// Explains pale and strong bars, in the colours of the chosen pair.
void BarsView::paintLegend(QPainter& painter, const QRectF& area, const Theme& theme) const {
    constexpr double kSwatch = 10, kGap = 5;
    const Rotary& rotary = state_.rotary();
    const int pair = state_.setup().pair;
    const QColor color = pair < rotary.pairs() ? theme.pair(pair, rotary.pairs()) : theme.frame;
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

/// Marks the features of the pair.
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

}  // namespace roper
