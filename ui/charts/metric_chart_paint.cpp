#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/metric_chart.h"
#include "ui/theme/zoom.h"

// Painting of a MetricChart: ranges, curves, colors, and exported pictures.

namespace roper {
namespace {

constexpr std::size_t kColumnsPerPixel = 6;  // for exports
constexpr int kMinColumns = 64;
constexpr int kBetweenRows = 5;        // of a legend inside the axes, pixels
constexpr double kFreeOfRange = 0.04;  // margin above and below, relative to the range
constexpr double kFlatMargin = 0.05;   // margin relative to the value, if the range is empty

constexpr std::array kMarkers = {QCPScatterStyle::ssDisc,     QCPScatterStyle::ssSquare,
                                 QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond,
                                 QCPScatterStyle::ssPlus,     QCPScatterStyle::ssCross,
                                 QCPScatterStyle::ssCircle,   QCPScatterStyle::ssStar};

}  // namespace

/// On a logarithmic axis, only positive values.
MetricChart::XRange MetricChart::xRange() const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& [key, series] : series_) {
        if (!isCurveVisible(key) || series.raw.empty()) continue;
        low = std::min(low, isLogX() ? std::max(series.raw.x().front(), 1e-3) : series.raw.x().front());
        high = std::max(high, series.raw.x().back());
    }
    return low <= high ? XRange({low, high}) : std::nullopt;
}

/// Fits the range to all visible points.
void MetricChart::fitX() const {
    auto [low, high] =
        (shared_x_range_ ? shared_x_range_() : xRange()).value_or(std::pair(isLogX() ? 1 : 0, 100));
    if (low == high) high = low + 1;
    plot().xAxis->setRange(low, high);
}

/// Fits the range to all visible values in the x range.
void MetricChart::fitY(const Canvas&) const {
    const double x_low = plot().xAxis->range().lower, x_high = plot().xAxis->range().upper;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& [key, series] : series_) {
        if (!isCurveVisible(key) || series.raw.empty()) continue;
        const MinMaxPyramid::Range range = series.raw.range(x_low, x_high);
        low = std::min(low, range.low);
        high = std::max(high, range.high);
        if (series.reference_line != nullptr) low = std::min(low, series.reference);
    }
    if (!(low <= high)) low = isLogY() ? 0.1 : 0, high = 1;
    if (isLogY()) {
        low = std::max(low, high * 1e-9);
        const double margin_factor = std::pow(std::max(high / low, 1.01), kFreeOfRange);
        plot().yAxis->setRange(low / margin_factor, high * margin_factor);
        return;
    }
    // For a single value, or equal ones, the axis shows a range around it.
    const double size = std::max(std::abs(low), std::abs(high));
    const bool is_flat = high - low < 1e-9 * size;
    const double margin = !is_flat && high > low ? (high - low) * kFreeOfRange
                          : size >= 1            ? std::max(size * kFlatMargin, 0.5)
                          : size > 0             ? 0.5 * size
                                                 : 0.5;
    // If all values are zero, the axis starts there: losses and percentages are never negative.
    double bottom = size > 0 ? low - margin : -0.02, top = high + margin;
    if (const auto& full = fullYRange()) {
        const double free = (full->second - full->first) * kFreeOfRange;
        bottom = std::min(low, full->first) - free;
        top = std::max(high, full->second) + free;
    }
    plot().yAxis->setRange(bottom, top);
}

/// Means at the points nearest to the columns of the visible range, and to one column beyond each end; each
/// averages at least all points of its column.
void MetricChart::collectMeans(const Series& series, std::size_t columns, std::vector<double>& xs,
                               std::vector<double>& ys) const {
    xs.clear();
    ys.clear();
    const std::vector<double>& all = series.raw.x();
    const auto indexAt = [&](double x) {
        return static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), x) - all.begin());
    };
    const QCPRange range = plot().xAxis->range();
    const std::size_t begin = indexAt(range.lower) - (indexAt(range.lower) > 0 ? 1 : 0);
    const std::size_t end = std::min(all.size(), indexAt(range.upper) + 2);
    const double fraction = 1.0 / static_cast<double>(columns);
    std::size_t next = 0;
    for (std::size_t i = begin; i < end; i = next) {
        // The first point of the next column, on either type of axis.
        const double x = std::max(all[i], range.lower);
        const double limit =
            isLogX() ? x * std::pow(range.upper / range.lower, fraction) : x + range.size() * fraction;
        next = std::max(i + 1, indexAt(limit));
        const std::size_t at = std::min((i + next) / 2, end - 1);
        const double mean = series.mean.at(at, std::max(halfWidth(series), (next - i) / 2));
        if (std::isnan(mean)) continue;
        xs.push_back(all[at]);
        ys.push_back(mean);
    }
}

void MetricChart::fillGraphs(const Canvas& canvas) const {
    const std::size_t columns =
        canvas.exported ? kColumnsPerPixel * static_cast<std::size_t>(canvas.size.width())
                        : static_cast<std::size_t>(std::max(kMinColumns, plot().axisRect()->width()));
    const QCPRange range = plot().xAxis->range();
    std::vector<double> xs, ys;
    const auto fill = [&](QCPGraph* graph, bool visible, auto collect) {
        graph->setVisible(visible);
        if (!visible) return;
        collect();
        graph->setData(QVector<double>(xs.begin(), xs.end()), QVector<double>(ys.begin(), ys.end()), true);
    };
    for (const auto& each : series_) {
        const Series& series = each.second;
        const bool shown = isCurveVisible(series.key);
        const auto values = [&] { series.raw.collect(range.lower, range.upper, columns, xs, ys); };
        const auto means = [&] { collectMeans(series, columns, xs, ys); };
        // A hidden series keeps its legend entry; otherwise it could not be shown again.
        const bool is_averaged = halfWidth(series) > 0;
        fill(series.raw_graph, shown && is_averaged, values);
        if (is_averaged)
            fill(series.smooth_graph, shown, means);
        else
            fill(series.smooth_graph, shown, values);
        const std::vector<double>& marks = series.raw.notFinite();
        series.mark_graph->setVisible(shown);
        series.mark_graph->setData(
            QVector<double>(marks.begin(), marks.end()),
            QVector<double>(static_cast<qsizetype>(marks.size()), plot().yAxis->range().upper), true);
        applyMarkers(series);
    }
    placeLetters();
}

/// Markers at each point of a short curve, and at some points of a long one.
void MetricChart::applyMarkers(const Series& series) const {
    constexpr int kAllMarked = 40, kMarks = 12, kSize = 7, kLargeSize = 13;
    const int points = series.smooth_graph->data()->size(), marker = series.style.marker;
    if (points > 1 && marker == 0) return series.smooth_graph->setScatterStyle({});
    const auto shape = marker == 0 ? QCPScatterStyle::ssDisc
                                   : kMarkers[static_cast<std::size_t>(marker - 1) % kMarkers.size()];
    const QBrush inside =
        marker == kRing ? QBrush(Theme::of(palette()).background) : QBrush(series.style.color);
    series.smooth_graph->setScatterStyle(
        QCPScatterStyle(shape, QPen(series.style.color, 1.4), inside, marker == kStar ? kLargeSize : kSize));
    series.smooth_graph->setScatterSkip(points <= kAllMarked ? 0 : points / kMarks);
}

void MetricChart::applyPens(const Series& series, const Theme& theme) const {
    // QCustomPlot draws lines wider than 1 px very slowly without the fast hint; the raw curve is thin.
    series.raw_graph->setPen(QPen(theme.faded(series.style.color, 0.35), 1));
    series.raw_graph->setAntialiased(false);
    series.smooth_graph->setPen(
        QPen(theme.visible(series.style.color), series.style.chosen ? 3.2 : 2, dashOf(series.style.dash)));
    if (series.reference_line != nullptr) {
        series.reference_line->setVisible(isCurveVisible(series.key));
        series.reference_line->setPen(QPen(theme.faded(series.style.color, 0.8), 1.2, Qt::DashLine));
        series.reference_line->point1->setCoords(0, series.reference);
        series.reference_line->point2->setCoords(1, series.reference);
        series.reference_graph->setPen(QPen(theme.faint_text, 1.2, Qt::DashLine));
    }
    series.mark_graph->setScatterStyle(
        QCPScatterStyle(QCPScatterStyle::ssCross, QPen(series.style.color, 3), QBrush(), 12));
}

void MetricChart::applyStyle(const Canvas& canvas) const {
    for (const auto& [key, series] : series_)
        applyPens(series, canvas.theme);
}

/// The first series with points for each label: the legend's entries.
std::vector<const MetricChart::Series*> MetricChart::legendSeries() const {
    std::vector<const Series*> entries;
    for (const auto& [key, series] : series_) {
        const auto same = [&series = series](const Series* other) {
            return other->style.label == series.style.label;
        };
        if (series.style.marker == kStar) continue;
        if (!series.points.empty() && std::ranges::none_of(entries, same)) entries.push_back(&series);
    }
    std::ranges::stable_sort(entries, [](const Series* a, const Series* b) {
        if (a->style.letter_label != b->style.letter_label)
            return CurveLetters::isBefore(a->style.letter_label, b->style.letter_label);
        return std::tie(a->style.dash, a->style.label) < std::tie(b->style.dash, b->style.label);
    });
    return entries;
}

/// The graphs with legend entries; references come last.
std::vector<PlotLegend::Entry> MetricChart::legendEntries(const Theme& theme) const {
    std::vector<PlotLegend::Entry> entries;
    for (const Series* series : legendSeries())
        entries.push_back({series->smooth_graph, series->style.label,
                           isCurveVisible(series->key) ? theme.text : theme.frame,
                           series->style.letter_label});
    std::ranges::move(referenceEntries(theme), std::back_inserter(entries));
    return entries;
}

/// References, each name once.
std::vector<PlotLegend::Entry> MetricChart::referenceEntries(const Theme& theme) const {
    std::vector<PlotLegend::Entry> entries;
    std::set<QString> names;
    for (const auto& [key, series] : series_)
        if (series.reference_line != nullptr && names.insert(series.reference_name).second)
            entries.push_back({series.reference_graph, series.reference_name, theme.text});
    return entries;
}

/// If another visible chart lists the curves, this legend lists only the references.
void MetricChart::fillLegend(const Canvas& canvas) const {
    using enum PlotLegend::Place;
    std::vector<PlotLegend::Entry> entries = legendEntries(canvas.theme);
    if (!canvas.exported && isListedElsewhere(entries)) entries = referenceEntries(canvas.theme);
    const bool is_below = needsLegendBelow(entries);
    plot().legend->setRowSpacing(is_below ? 0 : kBetweenRows);
    legend().fill(entries,
                  !canvas.legend ? hidden
                  : is_below     ? below
                                 : inside,
                  is_below ? smallFont(canvas.font) : canvas.font, canvas.size);
}

void MetricChart::placeLetters() const {
    std::vector<CurveLetters::Letter> all;
    for (const auto& [key, series] : series_)
        if (!series.style.letter_label.isEmpty() && series.style.marker != kRing &&
            series.style.marker != kStar)
            all.push_back(
                {series.smooth_graph, series.style.letter_label, series.smooth_graph->pen().color()});
    letters().setLetters(std::move(all));
}

QString MetricChart::figureCsv() const {
    CsvText csv(QStringLiteral("run,step,time_s,tokens,%1,smoothed,name").arg(figureName()));
    const auto recorded = [](double x) { return std::isnan(x) ? std::nullopt : std::optional(x); };
    for (const auto& [key, series] : series_) {
        if (!isCurveVisible(key)) continue;
        std::size_t placed = 0;  // number of earlier points with a value of x, and hence a mean
        for (const Point& point : series.points) {
            std::optional<double> mean;
            if (!std::isnan(xOf(point))) mean = series.mean.at(placed++, halfWidth(series));
            csv.line(key, recorded(point.step), recorded(point.time_s), recorded(point.tokens), point.value,
                     mean, series.style.specificName());
        }
    }
    return csv.text();
}

QString MetricChart::figureCaption() const {
    std::map<QString, int> labels;
    for (const auto& [key, series] : series_)
        if (isCurveVisible(key) && !series.points.empty() && series.style.marker != kStar)
            ++labels[series.style.label];
    QStringList named;
    for (const Series* series : legendSeries()) {
        const CurveStyle& style = series->style;
        const int count = labels[style.label];
        if (count == 0) continue;
        const QString name = CurveLetters::labeled(style.letter_label, style.label).simplified();
        named << (count > 1 ? tr("%1 (%2 runs)").arg(name).arg(count) : name);
    }
    const QString begin = yName().left(1).toUpper() + yName().mid(1);
    const QString text = tr("%1 by %2: %3.").arg(begin, xAxisName(), named.join(QStringLiteral("; ")));
    if (smoothing_ <= 1) return text;
    return text + tr(" Pale: each value; bold: mean of the %1 values around it.").arg(smoothing_);
}

}  // namespace roper
