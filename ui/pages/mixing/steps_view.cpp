#include "ui/pages/mixing/steps_view.h"

#include <QMouseEvent>
#include <cmath>

#include "ui/charts/arrow.h"
#include "ui/explorer/mistake_text.h"
#include "ui/pages/mixing/mixing_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/type_scale.h"

namespace roper {
namespace {

constexpr double kFourInARow = 640;  // pixels; a narrower picture has two rows of two

}  // namespace

StepsView::StepsView(AttentionState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("RoPER in three steps and in one"));
    connect(&state_, &AttentionState::changed, this, qOverload<>(&QWidget::update));
}

MixedRow StepsView::row() const {
    return mixRow(mixingForm(state_.setup()), rightMixingForm(state_.setup()), state_.mixed().weights,
                  state_.mixed().V, state_.positions(), state_.query());
}

/// The numbers of all panels, in the plane of the pair.
struct StepsView::Scene {
    MixedRow row;
    PairFeatures plane;
    Compass chain;
    QPolygonF mixing{QPointF()};    ///< corners of Σ a R(j)v, head to tail
    QPolygonF one_step{QPointF()};  ///< corners of Σ a R(j−n)v, as it should be
    double longest_value = 1e-9, longest_mix = 1e-9;

    QPointF of(const Eigen::VectorXd& v) const { return {v[plane.first], v[plane.second]}; }
};

StepsView::Scene StepsView::scene() const {
    const AttentionForm form = mixingForm(state_.setup());
    Scene scene;
    scene.row = row();
    scene.plane = form.value.rotary.plane(state_.setup().pair);
    scene.chain = valueCompass(form, state_.mixed().weights, state_.mixed().V, state_.positions(),
                               state_.query(), state_.setup().pair);
    const Compass right =
        valueCompass(rightMixingForm(state_.setup()), state_.mixed().weights, state_.mixed().V,
                     state_.positions(), state_.query(), state_.setup().pair);
    const auto length = [](const QPointF& p) { return std::hypot(p.x(), p.y()); };
    const auto follow = [&](QPolygonF& corners, const QPointF& step) {
        corners << corners.back() + step;
        scene.longest_mix = std::max(scene.longest_mix, length(corners.back()));
    };
    for (const CompassArrow& arrow : scene.chain.arrows) {
        const QPointF value = scene.of(scene.row.rotated.row(arrow.key));
        scene.longest_value = std::max(scene.longest_value, length(value));
        follow(scene.mixing, arrow.weight * value);
    }
    for (const CompassArrow& arrow : right.arrows)
        follow(scene.one_step, QPointF(arrow.rotated.x(), arrow.rotated.y()));
    return scene;
}

void StepsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.isReady()) return;
    const Scene scene = this->scene();
    const MixingFormulas formulas = mixingFormulas(state_.setup());
    const bool is_wrong = state_.setup().mistake != Mistake::none;
    const QString titles[] = {
        tr("1. rotate: %1").arg(formulas.rotate), tr("2. mix: %1").arg(formulas.mix),
        tr("3. rotate back: %1").arg(formulas.rotate_back),
        (is_wrong ? tr("as it should be: %1") : tr("in one step: %1")).arg(formulas.in_one_step)};
    const QString difference = noteNumber(scene.row.largestDifference(), 2);
    const QString verdict = is_wrong
                                ? tr("the mistake “%1” changes the output by up to %2, over all %3 features")
                                      .arg(describe(state_.setup().mistake).name, difference)
                                      .arg(state_.setup().head_dim)
                                : tr("largest difference of three steps and one, over all %1 features: %2")
                                      .arg(state_.setup().head_dim)
                                      .arg(difference);
    const auto heightOf = [&](double width, const QString& text) {
        return wrappedHeight(text, painter.font(), width);
    };
    const double below = heightOf(area.width() - 16, verdict) + 6;
    const int columns = area.width() < kFourInARow ? 2 : 4;
    const QSizeF panel_size(area.width() / columns, (area.height() - below) * columns / 4);
    double above = 0;
    for (const QString& title : titles)
        above = std::max(above, heightOf(panel_size.width() - 12, title));
    for (int panel = 0; panel < 4; ++panel) {
        const QRectF box(QPointF(area.left() + panel % columns * panel_size.width(),
                                 area.top() + panel / columns * panel_size.height()),
                         panel_size);
        const PlaneFrame at = PlaneFrame::in(box.adjusted(6, above + 8, -6, -6),
                                             1.12 * (panel == 0 ? scene.longest_value : scene.longest_mix));
        painter.setPen(theme.text);
        painter.drawText(box.adjusted(8, 4, -4, 0), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                         titles[panel]);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(at.onScreen({-at.extent, 0}), at.onScreen({at.extent, 0}));
        painter.drawLine(at.onScreen({0, -at.extent}), at.onScreen({0, at.extent}));
        if (panel == 0) paintValues(painter, at, scene, theme);
        if (panel == 1) paintChain(painter, at, scene.mixing, theme.faded(Theme::output(), 0.6), theme);
        if (panel == 2) {
            drawArrow(painter, at.center, at.onScreen(scene.of(scene.row.mixed)),
                      theme.ghost(Theme::output()), 2);
            drawArrow(painter, at.center, at.onScreen(scene.of(scene.row.output)), Theme::output(), 3.4);
        }
        if (panel == 3) paintChain(painter, at, scene.one_step, Theme::output(), theme);
    }
    painter.setPen(theme.faint_text);
    painter.drawText(area.adjusted(8, 0, -8, -4), Qt::AlignBottom | Qt::AlignLeft | Qt::TextWordWrap,
                     verdict);
}

/// Every value before, pale, and after its rotation.
void StepsView::paintValues(QPainter& painter, const PlaneFrame& at, const Scene& scene,
                            const Theme& theme) const {
    for (const CompassArrow& arrow : scene.chain.arrows) {
        drawArrow(painter, at.center, at.onScreen(scene.of(state_.mixed().V.row(arrow.key))),
                  theme.ghost(Theme::value()), 1.2);
        drawArrow(painter, at.center, at.onScreen(scene.of(scene.row.rotated.row(arrow.key))),
                  theme.faded(Theme::value(), 0.75), arrow.key == state_.key() ? 3 : 1.8);
    }
}

/// Arrows head to tail, and their sum.
void StepsView::paintChain(QPainter& painter, const PlaneFrame& at, const QPolygonF& corners,
                           const QColor& sum, const Theme& theme) const {
    for (qsizetype i = 1; i < corners.size(); ++i)
        drawArrow(painter, at.onScreen(corners[i - 1]), at.onScreen(corners[i]),
                  theme.faded(Theme::value(), 0.75), 1.8);
    drawArrow(painter, at.center, at.onScreen(corners.back()), sum, 3.4);
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
        .arg(state_.mixedText());
}

void StepsView::mouseMoveEvent(QMouseEvent*) {
    if (!state_.isReady()) return;
    const MixedRow mixed = row();
    const auto [first, second] = mixingForm(state_.setup()).value.rotary.plane(state_.setup().pair);
    const auto pair = [first = first, second = second](const Eigen::VectorXd& v) {
        return QStringLiteral("(%1, %2)").arg(noteNumber(v[first], 6), noteNumber(v[second], 6));
    };
    const bool is_wrong = state_.setup().mistake != Mistake::none;
    emit pointed(
        (is_wrong ? tr("ô = %1    o = %2    as it should be %3") : tr("ô = %1    o = %2    in one step %3"))
            .arg(pair(mixed.mixed), pair(mixed.output), pair(mixed.in_one_step)));
}

}  // namespace roper
