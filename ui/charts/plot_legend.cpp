#include "ui/charts/plot_legend.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "ui/charts/curve_letters.h"
#include "ui/charts/label_placer.h"
#include "ui/theme/elided_label.h"

namespace roper {
namespace {

constexpr double kInsideOverhead = 150;  // pixels: the axis and the legend's line sample
constexpr double kMaxHeight = 0.45;      // maximum height of a legend below the axes, relative to the figure
constexpr double kMinNameWidth = 140;    // minimum width of long names below the axes, pixels
constexpr double kMinCrowdedNameWidth = 80;  // the same if there is not enough room for all
constexpr int kBetweenColumns = 14;

/// A line of text among the entries.
class LegendNote : public QCPAbstractLegendItem {
  public:
    LegendNote(QCPLegend* parent, const QString& text) : QCPAbstractLegendItem(parent), text_(text) {
        setSelectable(false);
    }

  protected:
    void draw(QCPPainter* painter) override {
        painter->setFont(mFont);
        painter->setPen(mTextColor);
        painter->drawText(mRect, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, text_);
    }
    QSize minimumOuterSizeHint() const override {
        return QFontMetrics(mFont).size(Qt::TextSingleLine, text_);
    }

  private:
    QString text_;
};

/// Length in pixels of the part of a curve inside an area of the figure, or so near that its markers are.
double lengthBehind(const QRectF& figure_area, const QCPGraph& curve) {
    if (!curve.visible()) return 0;
    const double marker = curve.scatterStyle().isNone() ? 0 : curve.scatterStyle().size() / 2 + 1;
    const QRectF area = figure_area.adjusted(-marker, -marker, marker, marker);
    double length = 0;
    std::optional<QPointF> before;
    for (const QCPGraphData& point : *curve.data()) {
        const QPointF at = curve.coordsToPixels(point.key, point.value);
        if (before) length += lengthInside(QLineF(*before, at), area);
        before = at;
    }
    return length;
}

}  // namespace

PlotLegend::PlotLegend(QCustomPlot& plot) : plot_(&plot) {
    plot_->legend->setBorderPen(Qt::NoPen);
    plot_->setAutoAddPlottableToLegend(false);
}

void PlotLegend::move(bool below) {
    if (below == below_) return;
    below_ = below;
    QCPLayoutInset* inside = plot_->axisRect()->insetLayout();
    QCPLayoutGrid* rows = plot_->plotLayout();
    if (below) {
        corner_ = inside->insetAlignment(0);
        inside->take(plot_->legend);
        const int row = rows->rowCount();
        rows->addElement(row, 0, plot_->legend);
        rows->setRowStretchFactor(row, 1e-3);  // no higher than its entries
    } else {
        rows->take(plot_->legend);
        rows->simplify();
        inside->addElement(plot_->legend, corner_);
    }
}

double PlotLegend::lineHeight(const QFontMetricsF& metrics) const {
    const QCPLegend& legend = *plot_->legend;
    return std::max<double>(metrics.height(), legend.iconSize().height()) + legend.rowSpacing();
}

/// As many columns as fit with whole names; more columns, with cut names, if the legend would be too high.
/// @param letters  width of the letters, including the gap behind them
PlotLegend::Columns PlotLegend::columnsFor(const QStringList& names, double letters,
                                           const QFontMetricsF& metrics, QSizeF picture) const {
    const QCPLegend& legend = *plot_->legend;
    const double line = lineHeight(metrics);
    const double icon = legend.iconSize().width() + legend.iconTextPadding() + kBetweenColumns;
    const double room = picture.width() - legend.margins().left() - legend.margins().right();
    const int most_rows = std::max(1, static_cast<int>(kMaxHeight * picture.height() / line));
    const auto all = static_cast<int>(names.size());
    const auto widestOf = [&](const QStringList& texts) {
        double widest = 1;
        for (const QString& text : texts)
            widest = std::max(widest, std::ceil(metrics.horizontalAdvance(text)));
        return widest + letters;
    };
    const double widest = widestOf(names);
    // Measured without the common prefix of all names, if that is shorter.
    const double least = std::min(kMinNameWidth, widestOf(elidedLabels(names, metrics, kMinNameWidth)));
    const auto rowsOf = [all](int columns) { return (all + columns - 1) / columns; };
    const auto nameWidth = [&](int columns) { return room / columns - icon; };
    int count = std::clamp(static_cast<int>(room / (widest + icon)), 1, all);
    // Names are cut before entries are omitted.
    for (const double name : {least, kMinCrowdedNameWidth})
        while (rowsOf(count) > most_rows && nameWidth(count + 1) >= name)
            ++count;
    const int rows = std::min(rowsOf(count), most_rows), cells = rows * count;
    return {rows, static_cast<std::size_t>(all <= cells ? all : cells - 1),
            std::min(widest, std::max(1.0, nameWidth(count))) - letters};
}

void PlotLegend::fill(const std::vector<Entry>& entries, Place place, const QFont& font, QSizeF picture) {
    QCPLegend* legend = plot_->legend;
    const QFontMetricsF metrics(font);
    QStringList names;
    double letters = 0;
    for (const Entry& entry : entries) {
        names << entry.name;
        letters = std::max(letters, metrics.horizontalAdvance(CurveLetters::labeled(entry.letter_label, {})));
    }
    if (std::exchange(names_, names) != names) crowded_ = false;
    const bool below = (place == Place::below || (place == Place::inside && crowded_)) && !entries.empty();
    legend->setVisible(place != Place::hidden && !entries.empty());
    const Columns columns =
        below ? columnsFor(names, letters, metrics, picture)
              : Columns{0, entries.size(),
                        std::max(picture.width() - kInsideOverhead, kInsideOverhead) - letters};
    names = elidedLabels(names, metrics, columns.name_width);
    std::vector<QCPGraph*> wanted;
    for (std::size_t i = 0; i < columns.shown; ++i) {
        const QString& name = names[static_cast<qsizetype>(i)];
        entries[i].graph->setName(CurveLetters::labeled(entries[i].letter_label, name));
        wanted.push_back(entries[i].graph);
    }
    move(below);
    height_ = columns.rows * lineHeight(metrics);
    refill(wanted, columns.rows, static_cast<int>(entries.size() - columns.shown));
    for (int i = 0; i < legend->elementCount(); ++i) {
        auto* item = qobject_cast<QCPAbstractLegendItem*>(legend->elementAt(i));
        if (item == nullptr) continue;  // an empty cell of the last column
        item->setFont(font);
        if (static_cast<std::size_t>(i) < columns.shown)
            item->setTextColor(entries[static_cast<std::size_t>(i)].text_color);
    }
}

/// Keeps existing items, so that a clicked entry stays the same while curves grow.
/// @param rows  rows per column; 0: one column
void PlotLegend::refill(const std::vector<QCPGraph*>& graphs, int rows, int left_out) {
    QCPLegend* legend = plot_->legend;
    // A deleted graph has removed its entry.
    const bool all_have_items = std::ranges::all_of(
        graphs, [legend](QCPGraph* graph) { return legend->hasItemWithPlottable(graph); });
    if (graphs == filled_ && rows == rows_ && left_out == omitted_ && all_have_items) return;
    legend->clearItems();
    legend->setWrap(rows);
    legend->setFillOrder(QCPLayoutGrid::foRowsFirst, false);
    legend->setColumnSpacing(rows > 0 ? kBetweenColumns : 0);
    for (QCPGraph* graph : graphs)
        graph->addToLegend();
    if (left_out > 0) legend->addItem(new LegendNote(legend, QObject::tr("and %1 more").arg(left_out)));
    filled_ = graphs;
    rows_ = rows;
    omitted_ = left_out;
}

PlotLegend::Move PlotLegend::avoidCurves(const std::vector<const QCPGraph*>& curves) {
    if (!isInside()) return Move::none;
    const QRectF inside = plot_->axisRect()->rect();
    QCPLayoutInset* layout = plot_->axisRect()->insetLayout();
    const Qt::Alignment now = layout->insetAlignment(0);
    // All corners have the same margin as the current one.
    const QRectF box = plot_->legend->outerRect();
    const double across = now & Qt::AlignLeft ? box.left() - inside.left() : inside.right() - box.right();
    const double down = now & Qt::AlignTop ? box.top() - inside.top() : inside.bottom() - box.bottom();
    const auto length = [&](Qt::Alignment corner) {
        const QPointF at(
            corner & Qt::AlignLeft ? inside.left() + across : inside.right() - across - box.width(),
            corner & Qt::AlignTop ? inside.top() + down : inside.bottom() - down - box.height());
        double sum = 0;
        for (const QCPGraph* curve : curves)
            sum += lengthBehind(QRectF(at, box.size()), *curve);
        return sum;
    };
    Qt::Alignment best = now;
    const double covered = length(now);
    double least = covered / 2;
    if (least == 0) return Move::none;
    for (const Qt::Alignment corner : {Qt::AlignTop | Qt::AlignRight, Qt::AlignBottom | Qt::AlignRight,
                                       Qt::AlignTop | Qt::AlignLeft, Qt::AlignBottom | Qt::AlignLeft}) {
        const double behind = length(corner);
        if (corner == now || behind >= least) continue;
        best = corner;
        least = behind;
    }
    layout->setInsetAlignment(0, best);
    constexpr double kTolerated = 8;  // pixels of curves
    crowded_ = (best == now ? covered : least) > kTolerated;
    return crowded_ ? Move::below : best != now ? Move::to_corner : Move::none;
}

}  // namespace roper
