#include "ui/pages/compare/outcome_view.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/csv_text.h"
#include "ui/charts/label_placer.h"
#include "ui/charts/ticks.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kMinGroupHeight = 18, kMinTwoLineRowHeight = 36, kMaxGroupHeight = 110, kAxisHeight = 52,
                 kTopMargin = 30, kNotReachedWidth = 88, kDotRadius = 4.5, kLabelGap = 12;
constexpr double kSpread = 0.3;  // maximum offset of dots to either side, relative to a row

}  // namespace

/// Positions of values in the figure.
struct OutcomeView::Scale {
    QRectF plot;  ///< area of the values
    double low = 0, high = 1;
    double row = kMinGroupHeight;  ///< height of a row
    std::size_t rows = 1;          ///< number of rows that fit
    double area_left = 0;
    double not_reached_x = 0;
    bool has_not_reached = false;

    double x(double value) const { return plot.left() + (value - low) / (high - low) * plot.width(); }
    /// Centers of the dots of a group's runs, in the row at y.
    std::vector<QPointF> dots(const ComparedGroup& group, double y) const {
        std::vector<double> along;
        for (const double value : group.values)
            along.push_back(x(value));
        const std::vector<double> across = beeswarm(along, 2 * kDotRadius, kSpread * row);
        std::vector<QPointF> all;
        for (std::size_t i = 0; i < along.size(); ++i)
            all.emplace_back(along[i], y + across[i]);
        return all;
    }
};

OutcomeView::OutcomeView(CompareState& state, QWidget* parent)
    : FigureView(parent, QStringLiteral("outcomes"), tr("Outcome of every run")), state_(state) {
    setEmptyText(tr("No group of runs is selected."));
    connect(&state_, &CompareState::changed, this, qOverload<>(&QWidget::update));
}

std::vector<const ComparedGroup*> OutcomeView::shown() const {
    std::vector<const ComparedGroup*> groups;
    for (const ComparedGroup& group : state_.groups())
        if (group.shown) groups.push_back(&group);
    return groups;
}

QStringList OutcomeView::labels() const {
    QStringList labels;
    for (const ComparedGroup* group : shown())
        labels << group->label();
    return labels;
}

OutcomeView::Scale OutcomeView::scale(const QRectF& area) const {
    Scale scale;
    scale.low = std::numeric_limits<double>::infinity();
    scale.high = -scale.low;
    for (const ComparedGroup* group : shown()) {
        scale.has_not_reached = scale.has_not_reached || !group->not_reached.isEmpty();
        for (const double value : group->values) {
            scale.low = std::min(scale.low, value);
            scale.high = std::max(scale.high, value);
        }
    }
    // Intervals from a few runs may be very wide; they extend the axis by at most half its range on either
    // side.
    const double lowest = scale.low, highest = scale.high, extension = 0.5 * (highest - lowest);
    for (const ComparedGroup* group : shown()) {
        const auto& interval = group->interval;
        if (!interval || !(extension > 0)) continue;
        scale.low = std::min(scale.low, std::max(interval->low, lowest - extension));
        scale.high = std::max(scale.high, std::min(interval->high, highest + extension));
    }
    if (!(scale.low <= scale.high)) scale.low = 0, scale.high = 1;
    const double least_margin =
        infoOf(state_.question().measure).counts ? 1 : 1e-6 + 0.001 * std::abs(scale.high);
    const double margin = std::max(0.06 * (scale.high - scale.low), least_margin);
    scale.low -= margin;
    scale.high += margin;
    double longest = 0;
    for (const ComparedGroup* group : shown())
        longest = std::max(longest, QFontMetricsF(font()).horizontalAdvance(group->label()));
    const double label = std::min(0.35 * area.width(), longest + kLabelGap + 2);
    const double room_below = area.height() - kTopMargin - kAxisHeight;
    scale.rows = std::clamp<std::size_t>(
        shown().size(), 1, static_cast<std::size_t>(std::max(1.0, room_below / kMinGroupHeight)));
    const auto rows = static_cast<double>(scale.rows);
    scale.row = std::clamp(room_below / rows, kMinGroupHeight, kMaxGroupHeight);
    scale.area_left = area.left();
    scale.plot =
        QRectF(area.left() + label, area.top() + kTopMargin,
               area.width() - label - 24 - (scale.has_not_reached ? kNotReachedWidth : 0), scale.row * rows);
    scale.not_reached_x = scale.plot.right() + 12 + kNotReachedWidth / 2;
    return scale;
}

void OutcomeView::paintRow(QPainter& painter, const ComparedGroup& group, const Scale& scale, double y,
                           const Theme& theme) const {
    painter.setPen(theme.text);
    const QRectF label(scale.area_left, y - scale.row / 2, scale.plot.left() - scale.area_left - kLabelGap,
                       scale.row);
    QString name = group.label();
    const bool has_room = scale.row >= kMinTwoLineRowHeight;
    const QFontMetricsF metrics(painter.font());
    if (!has_room && metrics.horizontalAdvance(name) > label.width())
        name = elidedLabel(withoutPrefix(name, commonPrefixLength(labels())), metrics, label.width());
    painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter | (has_room ? Qt::TextWordWrap : 0), name);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(scale.plot.left(), y + scale.row / 2),
                     QPointF(scale.plot.right(), y + scale.row / 2));
    painter.setPen(QPen(group.color, 1));
    QColor fill = group.color;
    fill.setAlphaF(0.45F);
    painter.setBrush(fill);
    for (const QPointF& dot : scale.dots(group, y))
        painter.drawEllipse(dot, kDotRadius, kDotRadius);
    if (!group.values.empty()) {
        const double mean = scale.x(group.summary.mean);
        painter.setPen(QPen(group.color, 2.4, Qt::SolidLine, Qt::FlatCap));
        if (const auto& interval = group.interval)
            painter.drawLine(QPointF(scale.x(std::max(interval->low, scale.low)), y),
                             QPointF(scale.x(std::min(interval->high, scale.high)), y));
        painter.drawLine(QPointF(mean, y - scale.row * 0.34), QPointF(mean, y + scale.row * 0.34));
    }
    if (scale.has_not_reached) {
        painter.setPen(QPen(group.color, 1.6));
        painter.setBrush(Qt::NoBrush);
        if (!group.not_reached.isEmpty()) {
            painter.drawEllipse(QPointF(scale.not_reached_x - 14, y), kDotRadius, kDotRadius);
            drawColoredText(painter, QRectF(scale.not_reached_x - 4, y - 10, 40, 20), kLeftMiddle,
                            QStringLiteral("× %1").arg(group.not_reached.size()), theme.text);
        }
    }
    QStringList omissions;
    if (!group.unfinished.isEmpty()) omissions << tr("%1 not finished").arg(group.unfinished.size());
    if (!group.missing.isEmpty()) omissions << tr("%1 not measured").arg(group.missing.size());
    if (group.excluded > 0) omissions << tr("%1 left out").arg(group.excluded);
    if (omissions.isEmpty()) return;
    painter.setPen(theme.faint_text);
    const double below = has_room ? y + scale.row / 2 - 17 : y - 7.5;
    painter.drawText(QRectF(scale.plot.left() + 4, below, scale.plot.width(), 15), kLeftMiddle,
                     omissions.join(QStringLiteral(", ")));
}

void OutcomeView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const auto groups = shown();
    if (groups.empty()) return paintNote(painter, area, emptyText(), theme);
    const Scale scale = this->scale(area);
    const bool counts = infoOf(state_.question().measure).counts;
    for (const double tick : (counts ? wholeTicks : niceTicks)(scale.low, scale.high, 6)) {
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(scale.x(tick), scale.plot.top()),
                         QPointF(scale.x(tick), scale.plot.bottom()));
        drawColoredText(painter, QRectF(scale.x(tick) - 40, scale.plot.bottom() + 4, 80, 16), Qt::AlignCenter,
                        numberText(tick), theme.faint_text);
    }
    drawColoredText(painter, QRectF(scale.plot.left(), scale.plot.bottom() + 22, scale.plot.width(), 18),
                    Qt::AlignCenter, measureTitle(state_.question()), theme.text);
    painter.setPen(theme.faint_text);
    const QRectF above(area.left() + 8, area.top() + 4, scale.plot.right() - area.left() - 8, kTopMargin - 8);
    QString note = groups.size() > scale.rows
                       ? tr("%1 more groups do not fit: choose fewer, or enlarge the figure")
                             .arg(groups.size() - scale.rows)
                       : tr("dot: run; vertical line: mean; horizontal line: its 95 % interval");
    if (painter.fontMetrics().horizontalAdvance(note) > above.width())
        note = groups.size() > scale.rows ? tr("%1 more groups do not fit").arg(groups.size() - scale.rows)
                                          : tr("runs, mean, 95 % interval");
    painter.drawText(above, kLeftMiddle, note);
    if (scale.has_not_reached)
        painter.drawText(QRectF(scale.not_reached_x - kNotReachedWidth / 2, area.top() + 4, kNotReachedWidth,
                                kTopMargin - 8),
                         Qt::AlignCenter, tr("not reached"));
    for (std::size_t i = 0; i < std::min(groups.size(), scale.rows); ++i)
        paintRow(painter, *groups[i], scale, scale.plot.top() + scale.row * (static_cast<double>(i) + 0.5),
                 theme);
}

void OutcomeView::mouseMoveEvent(QMouseEvent* event) {
    const Scale scale = this->scale(canvas());
    const auto groups = shown();
    const double row = (event->position().y() - scale.plot.top()) / scale.row;
    if (row < 0 || row >= static_cast<double>(std::min(groups.size(), scale.rows))) return emit hovered({});
    const ComparedGroup& group = *groups[static_cast<std::size_t>(row)];
    const double y = scale.plot.top() + scale.row * (std::floor(row) + 0.5);
    QString text = group.values.empty() ? tr("%1: no run has a value").arg(group.label())
                                        : tr("%1: mean %2 of %3 runs")
                                              .arg(group.label(), numberText(group.summary.mean))
                                              .arg(group.values.size());
    if (const auto& interval = group.interval)
        text += tr(", 95 % interval %1 to %2").arg(numberText(interval->low), numberText(interval->high));
    const std::vector<QPointF> dots = scale.dots(group, y);
    for (std::size_t i = 0; i < dots.size(); ++i) {
        if (QLineF(dots[i], event->position()).length() < 2 * kDotRadius)
            text += QStringLiteral("    %1: %2")
                        .arg(state_.store().titleOf(group.names[i]), numberText(group.values[i]));
    }
    emit hovered(text);
}

QString OutcomeView::figureCsv() const {
    CsvText csv(QStringLiteral("group,run,value"));
    for (const ComparedGroup* group : shown()) {
        const QString label = group->label();
        for (std::size_t i = 0; i < group->values.size(); ++i)
            csv.line(label, group->names[i], group->values[i]);
        for (const auto& [runs, word] : {std::pair{group->not_reached, "not reached"},
                                         {group->unfinished, "unfinished"},
                                         {group->missing, "missing"}})
            for (const QString& run : runs)
                csv.line(label, run, word);
    }
    return csv.text();
}

QString OutcomeView::figureCaption() const {
    const auto groups = shown();
    const bool leaves_out =
        std::ranges::any_of(groups, [](const ComparedGroup* group) { return group->excluded > 0; });
    return tr("%1; dot: run; vertical line: mean; horizontal line: its 95 %% interval (Student's t)%2%3")
        .arg(measureTitle(state_.question()),
             state_.question().drop_worst ? tr("; worst run of each group dropped") : QString(),
             leaves_out ? tr("; left out: runs whose seed was trained again, and runs of another precision")
                        : QString())
        .replace(QStringLiteral("%%"), QStringLiteral("%"));
}

}  // namespace roper
