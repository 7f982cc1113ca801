#include "ui/pages/mixing/steps_view.h"

#include <QMouseEvent>
#include <array>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/explorer/mistake_text.h"
#include "ui/pages/mixing/mixing_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kFourInARow = 640;  // pixels; narrower figures have two rows of two

}  // namespace

StepsView::StepsView(AttentionState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("three-steps"), tr("RoPER in three steps and in one")),
      state_(state) {
    connect(&state_, &AttentionState::changed, this, qOverload<>(&QWidget::update));
}

OutputSteps StepsView::row() const {
    return computeOutputSteps(mixingForm(state_.setup()), correctMixingForm(state_.setup()),
                              state_.mixed().weights, state_.mixed().V, state_.positions(), state_.query());
}

/// The numbers of all panels, in the plane of the pair. n: position of the query, j: of a key, a: weight of
/// the key, v: its value.
struct StepsView::Scene {
    OutputSteps row;
    PairFeatures plane;
    ValueChain chain;
    QPolygonF mixing{QPointF()};    ///< corners of the chain Σ a R(j)v, head to tail
    QPolygonF one_step{QPointF()};  ///< corners of the chain Σ a R(j−n)v, by the correct form
    double longest_value = 1e-9, longest_mix = 1e-9;

    QPointF of(const Eigen::VectorXd& v) const { return {v[plane.first], v[plane.second]}; }
};

StepsView::Scene StepsView::scene() const {
    const AttentionForm form = mixingForm(state_.setup());
    Scene scene;
    scene.row = row();
    scene.plane = form.value.rotary.plane(state_.setup().pair);
    const double shift = state_.setup().shift;
    scene.chain = state_.valueChain(form, shift);
    const ValueChain correct = state_.valueChain(correctMixingForm(state_.setup()), shift);
    const auto follow = [&](QPolygonF& corners, const QPointF& step) {
        corners << corners.back() + step;
        scene.longest_mix = std::max(scene.longest_mix, lengthOf(corners.back()));
    };
    for (const ValueArrow& arrow : scene.chain.arrows) {
        const QPointF value = scene.of(scene.row.rotated.row(arrow.key));
        scene.longest_value = std::max(scene.longest_value, lengthOf(value));
        follow(scene.mixing, arrow.weight * value);
    }
    for (const ValueArrow& arrow : correct.arrows)
        follow(scene.one_step, QPointF(arrow.rotated.x(), arrow.rotated.y()));
    return scene;
}

/// Positions of the panels, and the texts beside them.
struct StepsView::Panels {
    std::array<QString, 4> titles;
    std::array<QRectF, 4> boxes;
    std::array<PlaneFrame, 4> frames;
    QString verdict;
};

StepsView::Panels StepsView::panels(const Scene& scene, const QRectF& area, const QFont& font) const {
    const MixingFormulas formulas = mixingFormulas(state_.setup());
    const bool is_wrong = state_.setup().mistake != Mistake::none;
    Panels all;
    all.titles = {tr("1. rotate: %1").arg(formulas.rotate), tr("2. mix: %1").arg(formulas.mix),
                  tr("3. rotate back: %1").arg(formulas.rotate_back),
                  (is_wrong ? tr("should be: %1") : tr("in one step: %1")).arg(formulas.direct_output)};
    const QString difference = numberText(scene.row.largestDifference(), 2);
    all.verdict = is_wrong ? tr("the mistake “%1” changes the output by up to %2, over all %3 features")
                                 .arg(describe(state_.setup().mistake).name, difference)
                                 .arg(state_.setup().head_dim)
                           : tr("largest difference between three steps and one, over all %1 features: %2")
                                 .arg(state_.setup().head_dim)
                                 .arg(difference);
    const double below = wrappedHeight(all.verdict, font, area.width() - 16) + 6;
    const int columns = area.width() < kFourInARow ? 2 : 4;
    const QSizeF size(area.width() / columns, (area.height() - below) * columns / 4);
    double above = 0;
    for (const QString& title : all.titles)
        above = std::max(above, wrappedHeight(title, font, size.width() - 12));
    for (std::size_t panel = 0; panel < 4; ++panel) {
        const int index = static_cast<int>(panel);
        all.boxes[panel] = QRectF(QPointF(area.left() + index % columns * size.width(),
                                          area.top() + index / columns * size.height()),
                                  size);
        all.frames[panel] = PlaneFrame::in(all.boxes[panel].adjusted(6, above + 8, -6, -6),
                                           1.12 * (panel == 0 ? scene.longest_value : scene.longest_mix));
    }
    return all;
}

void StepsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.isReady()) return;
    const Scene scene = this->scene();
    const Panels all = panels(scene, area, painter.font());
    for (std::size_t panel = 0; panel < 4; ++panel) {
        const PlaneFrame& at = all.frames[panel];
        drawColoredText(painter, all.boxes[panel].adjusted(8, 4, -4, 0),
                        Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, all.titles[panel], theme.text);
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
    drawColoredText(painter, area.adjusted(8, 0, -8, -4), Qt::AlignBottom | Qt::AlignLeft | Qt::TextWordWrap,
                    all.verdict, theme.faint_text);
}

/// Marks the tip of the arrow of the key under the pointer in every panel that shows single values.
void StepsView::paintHovered(QPainter& painter, const Theme& theme) const {
    const auto& key = state_.selection().hovered().key;
    if (!key || !state_.isReady()) return;
    const Scene scene = this->scene();
    const Panels all = panels(scene, canvas(), font());
    for (std::size_t i = 0; i < scene.chain.arrows.size(); ++i) {
        if (scene.chain.arrows[i].key != *key) continue;
        const auto corner = static_cast<qsizetype>(i) + 1;
        paintRing(painter, all.frames[0].onScreen(scene.of(scene.row.rotated.row(*key))), theme);
        paintRing(painter, all.frames[1].onScreen(scene.mixing[corner]), theme);
        if (corner < scene.one_step.size())
            paintRing(painter, all.frames[3].onScreen(scene.one_step[corner]), theme);
    }
}

/// Every value before its rotation, pale, and after it.
void StepsView::paintValues(QPainter& painter, const PlaneFrame& at, const Scene& scene,
                            const Theme& theme) const {
    for (const ValueArrow& arrow : scene.chain.arrows) {
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
    CsvText csv(QStringLiteral("feature,mixed,output,one_step"));
    if (!state_.isReady()) return csv.text();
    const OutputSteps mixed = row();
    for (Eigen::Index i = 0; i < mixed.output.size(); ++i)
        csv.line(i, mixed.mixed[i], mixed.output[i], mixed.direct_output[i]);
    return csv.text();
}

QString StepsView::figureCaption() const {
    return tr("RoPER in three steps and in one: query %1, pair %2, %3")
        .arg(state_.query())
        .arg(state_.setup().pair)
        .arg(state_.mixedText());
}

void StepsView::mouseMoveEvent(QMouseEvent*) {
    if (!state_.isReady()) return;
    const OutputSteps mixed = row();
    const auto [first, second] = mixingForm(state_.setup()).value.rotary.plane(state_.setup().pair);
    const auto pair = [first = first, second = second](const Eigen::VectorXd& v) {
        return QStringLiteral("(%1, %2)").arg(numberText(v[first], 6), numberText(v[second], 6));
    };
    const bool is_wrong = state_.setup().mistake != Mistake::none;
    emit hovered(
        (is_wrong ? tr("ô = %1    o = %2    should be %3") : tr("ô = %1    o = %2    in one step %3"))
            .arg(pair(mixed.mixed), pair(mixed.output), pair(mixed.direct_output)));
}

}  // namespace roper
