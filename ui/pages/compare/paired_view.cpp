#include "ui/pages/compare/paired_view.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/ticks.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kPairDot = 4.5;
constexpr double kAbove = 34, kLine = 16;  // pixels: above both charts, and per line of text below them
constexpr double kIntervalWidth = 94;      // width of each of the two intervals, including texts
constexpr int kMaxLines = 3;               // of a group's name

/// A vertical axis over a rectangle.
struct VerticalAxis {
    QRectF box;
    double low, high;

    double y(double value) const { return box.bottom() - (value - low) / (high - low) * box.height(); }
};

VerticalAxis fit(const QRectF& box, double low, double high) {
    if (!(low <= high)) low = 0, high = 1;
    const double margin = high > low ? 0.08 * (high - low) : high != 0 ? 0.1 * std::abs(high) : 1;
    return {box, low - margin, high + margin};
}

void paintTicks(QPainter& painter, const VerticalAxis& axis, const Theme& theme) {
    for (const double tick : niceTicks(axis.low, axis.high, 6)) {
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(axis.box.left(), axis.y(tick)), QPointF(axis.box.right(), axis.y(tick)));
        drawColoredText(painter, QRectF(axis.box.left() - 66, axis.y(tick) - 9, 60, 18), kRightMiddle,
                        numberText(tick), theme.faint_text);
    }
}

QString seedText(const SeedPair& pair) {
    return pair.data_seed == pair.model_seed
               ? QString::number(pair.model_seed)
               : QStringLiteral("%1/%2").arg(pair.data_seed).arg(pair.model_seed);
}

/// Labels of the two groups; without their common prefix if there is not enough room.
std::pair<QString, QString> namesOf(const PairedComparison& c, bool has_room) {
    const QStringList labels{QString::fromStdString(c.label_a), QString::fromStdString(c.label_b)};
    const qsizetype prefix = has_room ? 0 : commonPrefixLength(labels);
    return {labels[0].mid(prefix), labels[1].mid(prefix)};
}

/// Layout: outcomes of both groups, differences by seed, and their mean.
struct PairedLayout {
    QRectF pairs, seeds, means;
    double name_width;  ///< of each group's name below the pairs
    QString name_a, name_b;
};

QString inFewLines(const QString& text, const QFontMetricsF& metrics, double width) {
    QStringList lines = wrapped(text, metrics, width).split('\n');
    if (lines.size() > kMaxLines) {
        lines[kMaxLines - 1] = lines.mid(kMaxLines - 1).join(' ');
        lines.resize(kMaxLines);
    }
    for (QString& line : lines)
        line = metrics.elidedText(line, Qt::ElideMiddle, width);
    return lines.join('\n');
}

PairedLayout layoutOf(const QRectF& area, const PairedComparison& c, const QFont& font) {
    constexpr double kPairsFraction = 0.36, kTicks = 72, kEdge = 24;
    const QFontMetricsF metrics(font);
    PairedLayout layout;
    const double pairs_width = kPairsFraction * area.width() - kTicks;
    layout.name_width = 0.52 * pairs_width;
    const auto fits = [&](const std::string& label) {
        const QStringList lines =
            wrapped(QString::fromStdString(label), metrics, layout.name_width).split('\n');
        return lines.size() <= kMaxLines && std::ranges::all_of(lines, [&](const QString& line) {
                   return metrics.horizontalAdvance(line) <= layout.name_width;
               });
    };
    const auto [a, b] = namesOf(c, fits(c.label_a) && fits(c.label_b));
    layout.name_a = inFewLines(a, metrics, layout.name_width);
    layout.name_b = inFewLines(b, metrics, layout.name_width);
    // The texts below the intervals, or below the seeds, have two lines.
    const auto lines = std::max({layout.name_a.count('\n') + 1, layout.name_b.count('\n') + 1, qsizetype{2}});
    const double height = area.height() - kAbove - static_cast<double>(lines) * kLine - 12;
    const int intervals = !c.test ? 0 : c.test->bootstrap ? 2 : 1;
    const double left = area.left() + kPairsFraction * area.width() + kTicks + 6;
    const double right = area.right() - kEdge, means = right - intervals * kIntervalWidth;
    layout.pairs = {area.left() + kTicks, area.top() + kAbove, pairs_width, height};
    layout.seeds = {left, layout.pairs.top(), means - left, height};
    layout.means = {means, layout.pairs.top(), right - means, height};
    return layout;
}

/// x of a pair among `count` in a rectangle.
double pairX(const QRectF& box, std::size_t index, std::size_t count) {
    return box.left() + box.width() * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

/// Stride of seed labels so that they fit: 1, 2, 3, …
std::size_t seedLabelStride(const QRectF& box, const PairedComparison& c, const QFontMetricsF& metrics) {
    double widest = 1;
    for (const SeedPair& pair : c.pairs)
        widest = std::max(widest, metrics.horizontalAdvance(seedText(pair)) + 6);
    return static_cast<std::size_t>(
        std::max(1.0, std::ceil(widest * static_cast<double>(c.pairs.size()) / box.width())));
}

/// The difference of every seed, in the color of the better group.
/// @param colors  of groups a and b
void paintSeeds(QPainter& painter, const VerticalAxis& axis, const PairedComparison& c,
                const std::pair<QColor, QColor>& colors, const Theme& theme) {
    const QRectF& box = axis.box;
    const std::size_t step = seedLabelStride(box, c, QFontMetricsF(painter.font()));
    for (std::size_t i = 0; i < c.pairs.size(); ++i) {
        const SeedPair& pair = c.pairs[i];
        const double x = pairX(box, i, c.pairs.size());
        painter.setPen(theme.faint_text);
        if (i % step == 0)
            painter.drawText(QRectF(x - 30, box.bottom() + 6, 60, kLine), Qt::AlignCenter, seedText(pair));
        if (!pair.isKnown()) {
            painter.drawText(QRectF(x - 30, axis.y(0) - 18, 60, 16), Qt::AlignCenter, QStringLiteral("–"));
            continue;
        }
        painter.setPen(QPen(theme.faint_text, 1));
        painter.drawLine(QPointF(x, axis.y(0)), QPointF(x, axis.y(pair.difference())));
        painter.setPen(Qt::NoPen);
        const bool b_better = (pair.difference() > 0) == infoOf(c.measure).higher_is_better;
        painter.setBrush(pair.difference() == 0 ? theme.faint_text : b_better ? colors.second : colors.first);
        painter.drawEllipse(QPointF(x, axis.y(pair.difference())), kPairDot, kPairDot);
    }
}

/// The mean and its intervals, to the right of the seeds.
/// @param axis  of the differences, over the rectangle of the intervals
void paintIntervals(QPainter& painter, const VerticalAxis& axis, const PairedComparison& c,
                    const Theme& theme) {
    const QRectF& box = axis.box;
    const double mean_x = box.left() + kIntervalWidth / 2, boot_x = mean_x + kIntervalWidth;
    const auto paintInterval = [&](double x, const QString& words, const Interval& interval, double width) {
        drawColoredText(painter,
                        QRectF(x - kIntervalWidth / 2, box.bottom() + 6, kIntervalWidth, 2 * kLine + 4),
                        Qt::AlignHCenter | Qt::AlignTop, words, theme.text);
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

/// "difference by seed: RoPER − RoPE", with names elided to fit.
QString differenceTitle(const PairedComparison& c, const QFontMetricsF& metrics, double width) {
    const QString begin = PairedView::tr("difference by seed: "), minus = QStringLiteral(" − ");
    for (const bool whole : {true, false}) {
        const auto [a, b] = namesOf(c, whole);
        const QString title = begin + b + minus + a;
        if (metrics.horizontalAdvance(title) <= width) return title;
    }
    const auto [a, b] = namesOf(c, false);
    const double room = (width - metrics.horizontalAdvance(begin + minus)) / 2;
    return begin + elidedLabel(b, metrics, room) + minus + elidedLabel(a, metrics, room);
}

constexpr double kBesideTitle = 66;  // offset to the left, above the ticks

void paintTitle(QPainter& painter, const QRectF& box, double width, const QString& title) {
    painter.drawText(QRectF(box.left() - kBesideTitle, box.top() - 28, width, 20), kLeftMiddle,
                     QFontMetricsF(painter.font()).elidedText(title, Qt::ElideMiddle, width));
}

}  // namespace

PairedView::PairedView(CompareState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("paired-difference"),
                 tr("Outcomes seed by seed, and their differences")),
      state_(state) {
    setEmptyText(
        tr("Two groups with common seeds are needed.\nOn the Training page, “Queue twins” trains RoPE and "
           "RoPER with the same seeds."));
    connect(&state_, &CompareState::changed, this, qOverload<>(&QWidget::update));
}

void PairedView::paintPairs(QPainter& painter, const Theme& theme, const QRectF& area) const {
    const PairedComparison& c = *state_.comparison();
    const PairedLayout layout = layoutOf(area, c, painter.font());
    const QRectF& box = layout.pairs;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const SeedPair& pair : c.pairs) {
        for (const OutcomeValue& outcome : {pair.a, pair.b}) {
            if (outcome.kind != Outcome::known) continue;
            low = std::min(low, outcome.value);
            high = std::max(high, outcome.value);
        }
    }
    const VerticalAxis axis = fit(box, low, high);
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
            painter.drawEllipse(QPointF(x, axis.y(outcome.value)), kPairDot, kPairDot);
        }
    }
    painter.setPen(theme.text);
    for (const auto& [name, x] : {std::pair{layout.name_a, x_a}, {layout.name_b, x_b}})
        painter.drawText(QRectF(x - layout.name_width / 2, box.bottom() + 6, layout.name_width,
                                static_cast<double>(name.count('\n') + 1) * (kLine + 2)),
                         Qt::AlignHCenter | Qt::AlignTop, name);
    paintTitle(painter, box, box.width() + kBesideTitle, measureTitle(state_.question()));
}

void PairedView::paintDifferences(QPainter& painter, const Theme& theme, const QRectF& area) const {
    const PairedComparison& c = *state_.comparison();
    const PairedLayout layout = layoutOf(area, c, painter.font());
    const QRectF box = layout.seeds | layout.means;
    if (c.differences().empty())
        return paintNote(painter, box, tr("No seed has a difference yet: a pair needs both runs’ outcomes."),
                         theme);
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
    const VerticalAxis axis = fit(box, low, high);
    paintTicks(painter, axis, theme);
    painter.setPen(QPen(theme.text, 1.4));
    painter.drawLine(QPointF(box.left(), axis.y(0)), QPointF(box.right(), axis.y(0)));
    paintSeeds(painter, {layout.seeds, axis.low, axis.high}, c, {state_.colorA(), state_.colorB()}, theme);
    painter.setPen(theme.text);
    paintTitle(painter, box, box.width() + kBesideTitle,
               differenceTitle(c, QFontMetricsF(painter.font()), box.width() + kBesideTitle));
    drawColoredText(painter, QRectF(box.left(), box.bottom() + 6 + kLine, layout.seeds.width(), kLine + 2),
                    kLeftMiddle, tr("seed"), theme.faint_text);
    if (c.test) paintIntervals(painter, {layout.means, axis.low, axis.high}, c, theme);
}

void PairedView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (!state_.comparison() || state_.comparison()->pairs.empty())
        return paintNote(painter, area, emptyText(), theme);
    paintPairs(painter, theme, area);
    paintDifferences(painter, theme, area);
}

void PairedView::mouseMoveEvent(QMouseEvent* event) {
    if (!state_.comparison()) return;
    const auto& pairs = state_.comparison()->pairs;
    const PairedLayout layout = layoutOf(canvas(), *state_.comparison(), font());
    const double index = (event->position().x() - layout.seeds.left()) / layout.seeds.width() *
                         static_cast<double>(pairs.size());
    if (!layout.seeds.contains(event->position()))
        return emit hovered(layout.means.contains(event->position())
                                ? QString::fromStdString(conclusionText(*state_.comparison()))
                                : QString());
    const SeedPair& pair = pairs[std::min(static_cast<std::size_t>(index), pairs.size() - 1)];
    const auto text = [](const OutcomeValue& outcome) {
        switch (outcome.kind) {
            case Outcome::known:
                return numberText(outcome.value);
            case Outcome::unfinished:
                return tr("not finished");
            case Outcome::not_reached:
                return tr("not reached");
            default:
                return tr("not measured");
        }
    };
    const auto titleOf = [this](const std::string& run) {
        return state_.store().titleOf(QString::fromStdString(run));
    };
    QString said =
        tr("seed %1    %2: %3    %4: %5")
            .arg(seedText(pair), titleOf(pair.run_a), text(pair.a), titleOf(pair.run_b), text(pair.b));
    if (pair.isKnown()) said += tr("    difference %1").arg(numberText(pair.difference()));
    emit hovered(said);
}

QString PairedView::figureCsv() const {
    return QString::fromStdString(toCsv(state_.comparison().value_or(PairedComparison{})));
}

QString PairedView::figureCaption() const {
    return state_.comparison() ? QString::fromStdString(conclusionText(*state_.comparison())) : QString();
}

}  // namespace roper
