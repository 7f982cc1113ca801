#include "ui/pages/compare/paired_view.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/nice_ticks.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kDot = 4.5;
constexpr std::size_t kMeanPlaces = 4;  // beside those of the pairs, for the mean with its two intervals

/// A vertical axis over a box.
struct Upright {
    QRectF box;
    double low, high;

    double y(double value) const { return box.bottom() - (value - low) / (high - low) * box.height(); }
};

Upright fit(const QRectF& box, double low, double high) {
    if (!(low <= high)) low = 0, high = 1;
    const double margin = std::max(0.08 * (high - low), 1e-6 + 0.002 * std::abs(high));
    return {box, low - margin, high + margin};
}

void paintTicks(QPainter& painter, const Upright& axis, const Theme& theme) {
    for (const double tick : niceTicks(axis.low, axis.high, 6)) {
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(axis.box.left(), axis.y(tick)), QPointF(axis.box.right(), axis.y(tick)));
        painter.setPen(theme.faint_text);
        painter.drawText(QRectF(axis.box.left() - 66, axis.y(tick) - 9, 60, 18),
                         Qt::AlignRight | Qt::AlignVCenter, noteNumber(tick));
    }
}

QString seedText(const SeedPair& pair) {
    return pair.data_seed == pair.model_seed
               ? QString::number(pair.model_seed)
               : QStringLiteral("%1/%2").arg(pair.data_seed).arg(pair.model_seed);
}

/// A pair's place among `count` on a box.
double placeX(const QRectF& box, std::size_t index, std::size_t count) {
    return box.left() + box.width() * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

QRectF leftBox(const QRectF& area) {
    return {area.left() + 72, area.top() + 34, 0.36 * area.width() - 72, area.height() - 80};
}

QRectF rightBox(const QRectF& area) {
    const double left = area.left() + 0.36 * area.width() + 78;
    return {left, area.top() + 34, area.right() - 24 - left, area.height() - 80};
}

/// The difference of every seed, in the colour of the better group.
/// @param colors  of groups a and b
void paintSeeds(QPainter& painter, const Upright& axis, const PairedComparison& c,
                const std::pair<QColor, QColor>& colors, const Theme& theme) {
    const QRectF& box = axis.box;
    const std::size_t places = c.pairs.size() + kMeanPlaces;
    for (std::size_t i = 0; i < c.pairs.size(); ++i) {
        const SeedPair& pair = c.pairs[i];
        const double x = placeX(box, i, places);
        painter.setPen(theme.faint_text);
        painter.drawText(QRectF(x - 30, box.bottom() + 6, 60, 16), Qt::AlignCenter, seedText(pair));
        if (!pair.isKnown()) {
            painter.drawText(QRectF(x - 30, axis.y(0) - 18, 60, 16), Qt::AlignCenter, QStringLiteral("–"));
            continue;
        }
        painter.setPen(QPen(theme.faint_text, 1));
        painter.drawLine(QPointF(x, axis.y(0)), QPointF(x, axis.y(pair.difference())));
        painter.setPen(Qt::NoPen);
        const bool b_better = (pair.difference() > 0) == infoOf(c.measure).more_is_better;
        painter.setBrush(pair.difference() == 0 ? theme.faint_text : b_better ? colors.second : colors.first);
        painter.drawEllipse(QPointF(x, axis.y(pair.difference())), kDot, kDot);
    }
}

/// The mean and its two intervals, right of the seeds.
void paintIntervals(QPainter& painter, const Upright& axis, const PairedComparison& c, const Theme& theme) {
    const QRectF& box = axis.box;
    const std::size_t places = c.pairs.size() + kMeanPlaces;
    const double mean_x = placeX(box, c.pairs.size() + 1, places),
                 boot_x = placeX(box, c.pairs.size() + 3, places);
    const auto paintInterval = [&](double x, const QString& words, const Interval& interval, double width) {
        painter.setPen(theme.text);
        painter.drawText(QRectF(x - 45, box.bottom() + 4, 90, 36), Qt::AlignHCenter | Qt::AlignTop, words);
        painter.setPen(QPen(theme.text, width, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(QPointF(x, axis.y(interval.low)), QPointF(x, axis.y(interval.high)));
        for (const double end : {interval.low, interval.high})
            painter.drawLine(QPointF(x - 5, axis.y(end)), QPointF(x + 5, axis.y(end)));
        painter.setBrush(theme.text);
        painter.setPen(Qt::NoPen);
        const double y = axis.y(c.test->difference.mean);
        painter.drawPolygon(QPolygonF{{x, y - 5.5}, {x + 5.5, y}, {x, y + 5.5}, {x - 5.5, y}});
    };
    paintInterval(mean_x, PairedView::tr("mean, 95 %\nStudent's t"), c.test->interval, 2.6);
    if (c.test->bootstrap)
        paintInterval(boot_x, PairedView::tr("the same,\nbootstrap"), *c.test->bootstrap, 1.2);
}

}  // namespace

PairedView::PairedView(CompareState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("Outcomes seed by seed, and their differences"));
    connect(&state_, &CompareState::changed, this, qOverload<>(&QWidget::update));
}

void PairedView::paintPairs(QPainter& painter, const QRectF& box, const Theme& theme) const {
    const PairedComparison& c = *state_.comparison();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const SeedPair& pair : c.pairs) {
        for (const OutcomeValue& outcome : {pair.a, pair.b}) {
            if (outcome.kind != Outcome::known) continue;
            low = std::min(low, outcome.value);
            high = std::max(high, outcome.value);
        }
    }
    const Upright axis = fit(box, low, high);
    paintTicks(painter, axis, theme);
    const double x_a = box.left() + 0.22 * box.width(), x_b = box.left() + 0.78 * box.width();
    for (const SeedPair& pair : c.pairs) {
        if (pair.isKnown()) {
            painter.setPen(QPen(theme.faint_text, 1.2));
            painter.drawLine(QPointF(x_a, axis.y(pair.a.value)), QPointF(x_b, axis.y(pair.b.value)));
        }
        for (const auto& [outcome, x, color] :
             {std::tuple{pair.a, x_a, state_.colorA()}, {pair.b, x_b, state_.colorB()}}) {
            if (outcome.kind != Outcome::known) continue;
            painter.setPen(Qt::NoPen);
            painter.setBrush(color);
            painter.drawEllipse(QPointF(x, axis.y(outcome.value)), kDot, kDot);
        }
    }
    painter.setPen(theme.text);
    for (const auto& [label, x] : {std::pair{c.label_a, x_a}, {c.label_b, x_b}})
        painter.drawText(QRectF(x - 0.27 * box.width(), box.bottom() + 6, 0.54 * box.width(), 40),
                         Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, QString::fromStdString(label));
    painter.drawText(QRectF(box.left() - 66, box.top() - 28, box.width() + 66, 20),
                     Qt::AlignLeft | Qt::AlignVCenter, measureTitle(state_.question()));
}

void PairedView::paintDifferences(QPainter& painter, const QRectF& box, const Theme& theme) const {
    const PairedComparison& c = *state_.comparison();
    double low = 0, high = 0;
    for (const double difference : c.differences()) {
        low = std::min(low, difference);
        high = std::max(high, difference);
    }
    if (c.test) {
        for (const auto& interval : {std::optional(c.test->interval), c.test->bootstrap}) {
            if (!interval) continue;
            low = std::min(low, interval->low);
            high = std::max(high, interval->high);
        }
    }
    const Upright axis = fit(box, low, high);
    paintTicks(painter, axis, theme);
    painter.setPen(QPen(theme.text, 1.4));
    painter.drawLine(QPointF(box.left(), axis.y(0)), QPointF(box.right(), axis.y(0)));
    paintSeeds(painter, axis, c, {state_.colorA(), state_.colorB()}, theme);
    painter.setPen(theme.text);
    painter.drawText(QRectF(box.left() - 66, box.top() - 28, box.width() + 80, 20),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     tr("difference by seed: %1 − %2")
                         .arg(QString::fromStdString(c.label_b), QString::fromStdString(c.label_a)));
    painter.setPen(theme.faint_text);
    painter.drawText(QRectF(box.left(), box.bottom() + 24, box.width(), 18), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("seed"));
    if (c.test) paintIntervals(painter, axis, c, theme);
}

void PairedView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.comparison() || state_.comparison()->pairs.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(
            area, Qt::AlignCenter | Qt::TextWordWrap,
            tr("Two groups with common seeds are needed.\nOn the Training page, “Queue twins” trains "
               "RoPE and RoPER with the same seeds."));
        return;
    }
    paintPairs(painter, leftBox(area), theme);
    paintDifferences(painter, rightBox(area), theme);
}

void PairedView::mouseMoveEvent(QMouseEvent* event) {
    if (!state_.comparison()) return;
    const auto& pairs = state_.comparison()->pairs;
    const QRectF box = rightBox(canvas());
    const double place =
        (event->position().x() - box.left()) / box.width() * static_cast<double>(pairs.size() + kMeanPlaces);
    if (!box.contains(event->position()) || place >= static_cast<double>(pairs.size()))
        return emit pointed(box.contains(event->position())
                                ? QString::fromStdString(conclusionOf(*state_.comparison()))
                                : QString());
    const SeedPair& pair = pairs[static_cast<std::size_t>(place)];
    const auto text = [](const OutcomeValue& outcome) {
        switch (outcome.kind) {
            case Outcome::known:
                return noteNumber(outcome.value);
            case Outcome::unfinished:
                return tr("not finished");
            case Outcome::never:
                return tr("never");
            default:
                return tr("not measured");
        }
    };
    QString said = tr("seed %1    %2: %3    %4: %5")
                       .arg(seedText(pair), QString::fromStdString(pair.run_a), text(pair.a),
                            QString::fromStdString(pair.run_b), text(pair.b));
    if (pair.isKnown()) said += tr("    difference %1").arg(noteNumber(pair.difference()));
    emit pointed(said);
}

QString PairedView::figureCsv() const {
    return QString::fromStdString(csvOf(state_.comparison().value_or(PairedComparison{})));
}

QString PairedView::figureCaption() const {
    return state_.comparison() ? QString::fromStdString(conclusionOf(*state_.comparison())) : QString();
}

}  // namespace roper
