#include "ui/mixing/steps_view.h"

#include <QMouseEvent>
#include <cmath>

#include "ui/charts/arrow.h"
#include "ui/charts/plane_frame.h"
#include "ui/mixing/compass_view.h"
#include "ui/shell/explain.h"

namespace roper {

StepsView::StepsView(AttentionState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("RoPER in three steps and in one"));
    connect(&state_, &AttentionState::changed, this, qOverload<>(&QWidget::update));
}

MixedRow StepsView::row() const {
    return mixRow(mixingForm(state_.setup()), state_.weightRow(), state_.heads().V, state_.positions(),
                  state_.query());
}

void StepsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.isReady()) return;
    const MixedRow mixed = row();
    const AttentionForm form = mixingForm(state_.setup());
    const auto [first, second] = form.value.rotary.plane(state_.setup().pair);
    const auto in_pair = [first = first, second = second](const auto& v) {
        return QPointF(v[first], v[second]);
    };
    const Eigen::VectorXd& weights = state_.weightRow();
    double longest_value = 1e-9, longest_mix = 1e-9;
    for (Eigen::Index j = 0; j < weights.size(); ++j)
        if (weights[j] != 0)
            longest_value =
                std::max(longest_value, std::hypot(mixed.rotated(j, first), mixed.rotated(j, second)));
    const Compass chain = valueCompass(form, weights, state_.heads().V, state_.positions(), state_.query(),
                                       state_.setup().pair);
    const auto keep = [&](const QPointF& p) {
        longest_mix = std::max(longest_mix, std::hypot(p.x(), p.y()));
    };
    QPointF tip, tip_turned;
    QPolygonF mixing{QPointF()}, one_step{QPointF()};
    for (const CompassArrow& arrow : chain.arrows) {
        tip += arrow.weight * QPointF(mixed.rotated(arrow.key, first), mixed.rotated(arrow.key, second));
        tip_turned += QPointF(arrow.turned.x(), arrow.turned.y());
        mixing << tip;
        one_step << tip_turned;
        keep(tip);
        keep(tip_turned);
    }
    const QString titles[] = {tr("1. rotate: v′ⱼ = R(j)vⱼ"), tr("2. mix: ô = Σ a v′"),
                              tr("3. rotate back: o = R(−n)ô"), tr("in one step: Σ a R(j−n)v")};
    const double width = area.width() / 4;
    const QColor value = theme.faded(Theme::value(), 0.75);
    for (int panel = 0; panel < 4; ++panel) {
        const QRectF box(area.left() + panel * width, area.top(), width, area.height());
        const PlaneFrame at =
            PlaneFrame::in(box.adjusted(6, 26, -6, -22), 1.12 * (panel == 0 ? longest_value : longest_mix));
        painter.setPen(theme.text);
        painter.drawText(box.adjusted(8, 4, -4, 0), Qt::AlignTop | Qt::AlignLeft, titles[panel]);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(at.onScreen({-at.extent, 0}), at.onScreen({at.extent, 0}));
        painter.drawLine(at.onScreen({0, -at.extent}), at.onScreen({0, at.extent}));
        if (panel == 0) {
            for (const CompassArrow& arrow : chain.arrows) {
                drawArrow(
                    painter, at.center,
                    at.onScreen({state_.heads().V(arrow.key, first), state_.heads().V(arrow.key, second)}),
                    theme.faded(Theme::value(), 0.28), 1.2);
                drawArrow(painter, at.center,
                          at.onScreen({mixed.rotated(arrow.key, first), mixed.rotated(arrow.key, second)}),
                          value, arrow.key == state_.key() ? 3 : 1.8);
            }
        } else if (panel != 2) {
            const QPolygonF& path = panel == 1 ? mixing : one_step;
            for (qsizetype i = 1; i < path.size(); ++i)
                drawArrow(painter, at.onScreen(path[i - 1]), at.onScreen(path[i]), value, 1.8);
        }
        if (panel == 1)
            drawArrow(painter, at.center, at.onScreen(in_pair(mixed.mixed)),
                      theme.faded(Theme::output(), 0.6), 3.4);
        if (panel == 2)
            drawArrow(painter, at.center, at.onScreen(in_pair(mixed.mixed)),
                      theme.faded(Theme::output(), 0.4), 2);
        if (panel == 2)
            drawArrow(painter, at.center, at.onScreen(in_pair(mixed.output)), Theme::output(), 3.4);
        if (panel == 3)
            drawArrow(painter, at.center, at.onScreen(in_pair(mixed.in_one_step)), Theme::output(), 3.4);
    }
    painter.setPen(theme.faint_text);
    painter.drawText(area.adjusted(8, 0, -8, -4), Qt::AlignBottom | Qt::AlignLeft,
                     tr("largest difference of three steps and one, over all %1 features: %2")
                         .arg(state_.setup().head_dim)
                         .arg(mixed.largestDifference(), 0, 'g', 2)
                         .replace('-', QChar(0x2212)));
}

QString StepsView::figureCsv() const {
    if (!state_.isReady()) return QStringLiteral("feature,mixed,output,one_step\n");
    const MixedRow mixed = row();
    QString csv = QStringLiteral("feature,mixed,output,one_step\n");
    for (Eigen::Index i = 0; i < mixed.output.size(); ++i)
        csv += QStringLiteral("%1,%2,%3,%4\n")
                   .arg(i)
                   .arg(QString::number(mixed.mixed[i], 'g', 17), QString::number(mixed.output[i], 'g', 17),
                        QString::number(mixed.in_one_step[i], 'g', 17));
    return csv;
}

QString StepsView::figureCaption() const {
    return tr("RoPER in three steps and in one: query %1, pair %2, %3")
        .arg(state_.query())
        .arg(state_.setup().pair)
        .arg(state_.sourceText());
}

void StepsView::mouseMoveEvent(QMouseEvent*) {
    if (!state_.isReady()) return;
    const MixedRow mixed = row();
    const auto [first, second] = mixingForm(state_.setup()).value.rotary.plane(state_.setup().pair);
    const auto pair = [first = first, second = second](const Eigen::VectorXd& v) {
        return QStringLiteral("(%1, %2)").arg(noteNumber(v[first], 6), noteNumber(v[second], 6));
    };
    emit pointed(tr("ô = %1    R(−n)ô = %2    in one step %3")
                     .arg(pair(mixed.mixed), pair(mixed.output), pair(mixed.in_one_step)));
}

}  // namespace roper
