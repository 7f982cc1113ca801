#include "ui/pages/attention/mistake_arrows_view.h"

#include <Eigen/Geometry>
#include <cmath>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/label_placer.h"
#include "ui/charts/plane_frame.h"
#include "ui/explorer/mistake_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kExtent = 1.25;  // of the plane: leaves room for labels around the unit circle

QPointF unitOf(const Eigen::Vector2d& v) {
    const double length = v.norm();
    return length > 0 ? QPointF(v.x() / length, v.y() / length) : QPointF(0, 0);
}

QPointF unitAt(double angle) {
    return {std::cos(angle), std::sin(angle)};
}

double dot(const QPointF& a, const QPointF& b) {
    return a.x() * b.x() + a.y() * b.y();
}

}  // namespace

MistakeArrowsView::MistakeArrowsView(AttentionState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("mistake-arrows"),
                 tr("The correct form and the mistake on the same arrows")),
      state_(state) {
    connect(&state_, &AttentionState::changed, this, qOverload<>(&QWidget::update));
}

Setup MistakeArrowsView::setupOf(bool correct) const {
    Setup setup = state_.setup();
    if (!appliesTo(mistake_, setup.rotatedTensors())) setup.method = "roper";
    setup.mistake = correct ? Mistake::none : mistake_;
    return setup;
}

MistakeArrowsView::Arrows MistakeArrowsView::arrows(bool correct, double shift) const {
    const Setup setup = setupOf(correct);
    const AttentionForm form = setup.form();
    const int n = state_.query(), j = state_.key(), pair = setup.pair;
    if (affectsValues(mistake_))
        return {{}, {}, unitAt(form.value.angle(pair, j + shift) + form.output.angle(pair, n + shift))};
    // The plane of the correct pairing; a wrong pairing mixes in other features.
    const auto [first, second] = setupOf(true).rotary().plane(pair);
    const auto rotated = [&, first = first, second = second](const TensorRotation& step,
                                                             const Eigen::MatrixXd& of, int token) {
        const Eigen::MatrixXd row =
            step.apply(of.row(token), Eigen::VectorXd::Constant(1, static_cast<double>(token) + shift));
        return unitOf({row(0, first), row(0, second)});
    };
    return {rotated(form.query, state_.heads().Q, n), rotated(form.key, state_.heads().K, j), {}};
}

double MistakeArrowsView::invariant(bool correct, double shift) const {
    const Arrows now = arrows(correct, shift);
    return affectsValues(mistake_) ? std::atan2(now.output.y(), now.output.x()) : dot(now.query, now.key);
}

void MistakeArrowsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.isReady())
        return paintNote(painter, area.adjusted(20, 20, -20, -20), state_.message(), theme);
    const double half = area.width() / 2;
    paintSide(painter, {area.left(), area.top(), half, area.height()}, true, theme);
    paintSide(painter, {area.left() + half, area.top(), half, area.height()}, false, theme);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(area.center().x(), area.top() + 8),
                     QPointF(area.center().x(), area.bottom() - 8));
}

void MistakeArrowsView::paintSide(QPainter& painter, const QRectF& area, bool correct,
                                  const Theme& theme) const {
    const QFont plain = painter.font();
    const QString title = correct ? tr("correct") : tr("mistake: %1").arg(describe(mistake_).name);
    const QString number = numberText(invariant(correct, shift_), 3),
                  before = numberText(invariant(correct, 0), 3);
    const QString result = affectsValues(mistake_)
                               ? tr("angle of the output %1 rad; before the shift %2").arg(number, before)
                               : tr("product %1; before the shift %2").arg(number, before);
    const double width = area.width() - 24;
    const double above = wrappedHeight(title, boldFont(plain), width) + 6,
                 below = wrappedHeight(result, plain, width) + 6;
    const QRectF middle = area.adjusted(12, above + 4, -12, -below - 4);
    const PlaneFrame frame = PlaneFrame::in(middle, kExtent);
    painter.setPen(theme.text);
    painter.setFont(boldFont(plain));
    painter.drawText(area.adjusted(12, 6, -12, 0), Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap, title);
    painter.setFont(plain);
    painter.drawText(area.adjusted(12, 0, -12, -6), Qt::AlignBottom | Qt::AlignLeft | Qt::TextWordWrap,
                     result);
    painter.setPen(QPen(theme.grid, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawEllipse(frame.center, frame.unit, frame.unit);
    LabelPlacer labels(middle);
    const Arrows start = arrows(correct, 0), now = arrows(correct, shift_);
    const auto draw = [&](const QPointF& from, const QPointF& to, const QColor& color, const QString& name) {
        const QPointF tip = frame.onScreen(to);
        drawArrow(painter, frame.center, frame.onScreen(from), theme.ghost(color), 1.4);
        drawArrow(painter, frame.center, tip, color, 3);
        labels.avoid(frame.center, tip);
        labels.draw(painter, name, tip, directionOf(frame.center, tip), theme.text);
    };
    if (affectsValues(mistake_)) return draw(start.output, now.output, Theme::output(), tr("o"));
    draw(start.query, now.query, Theme::query(), tr("q"));
    draw(start.key, now.key, Theme::key(), tr("k"));
}

QString MistakeArrowsView::figureCsv() const {
    CsvText csv(QStringLiteral("shift,right,wrong"));
    for (int shift = -64; state_.isReady() && shift <= 64; ++shift)
        csv.line(shift, invariant(true, shift), invariant(false, shift));
    return csv.text();
}

QString MistakeArrowsView::figureCaption() const {
    return tr("%1, compared with the correct form: query %2, key %3, pair %4, all positions shifted by %5; "
              "%6")
        .arg(describe(mistake_).name)
        .arg(state_.query())
        .arg(state_.key())
        .arg(state_.setup().pair)
        .arg(shift_)
        .arg(state_.sourceText());
}

}  // namespace roper
