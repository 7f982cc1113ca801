#include "ui/charts/curve_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "ui/charts/series.h"

namespace roper {
namespace {

constexpr double kRangeMargin = 0.05;
constexpr int kLong = 7, kShort = 4;             // digits in the readout
const QString kFront = QStringLiteral("front");  // layer of the first curve and of bold ones

/// Whether x is in the range of a curve, extended at both ends by half the mean distance of its points.
bool reaches(const CurveChart::Curve& curve, double at) {
    if (curve.x.isEmpty()) return false;
    const double gap =
        curve.x.size() < 2 ? 0 : (curve.x.back() - curve.x.front()) / static_cast<double>(curve.x.size() - 1);
    return at >= curve.x.front() - gap / 2 && at <= curve.x.back() + gap / 2;
}

/// The minimum and the maximum of a curve in each of `columns` pixel columns of [low, high].
void thin(const CurveChart::Curve& curve, double low, double high, bool log, int columns, QVector<double>& xs,
          QVector<double>& ys) {
    xs.clear();
    ys.clear();
    const auto position = [log](double x) { return log ? std::log(std::max(x, 1e-300)) : x; };
    const double first = position(low), width = (position(high) - first) / columns;
    int column = -1;
    double smallest = 0, largest = 0, at = 0;
    const auto finish = [&] {
        if (column < 0) return;
        xs << at << at;
        ys << smallest << largest;
    };
    for (qsizetype i = 0; i < curve.x.size(); ++i) {
        // Includes one point beyond each end, so that lines reach the edge.
        const bool before = i + 1 < curve.x.size() && curve.x[i + 1] < low;
        const bool after = i > 0 && curve.x[i - 1] > high;
        if (before || after || std::isnan(curve.y[i])) continue;
        const int here =
            static_cast<int>(std::clamp((position(curve.x[i]) - first) / width, -1.0, columns + 1.0)) + 1;
        if (here != column) {
            finish();
            column = here;
            smallest = largest = curve.y[i];
            at = curve.x[i];
        }
        smallest = std::min(smallest, curve.y[i]);
        largest = std::max(largest, curve.y[i]);
    }
    finish();
}

}  // namespace

CurveChart::CurveChart(const QString& name, const QString& x, const QString& y, QWidget* parent)
    : PlotView(name, x, y, parent) {
    setMinimumSize(220, 140);
    setWholeX(true);  // x is a pair, a distance, a position or a step
    plot().legend->setIconSize(18, 8);
    plot().legend->setRowSpacing(0);
    plot().addLayer(kFront, plot().layer(QStringLiteral("main")));
    connect(&plot(), &QCustomPlot::afterLayout, this, &CurveChart::placeMarkLabels);
}

void CurveChart::setTitle(const QString& title) {
    if (title_ == nullptr) {
        plot().plotLayout()->insertRow(0);
        title_ = new QCPTextElement(&plot());
        title_->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter);
        title_->setMargins({8, 2, 0, 0});
        plot().plotLayout()->addElement(0, 0, title_);
        plot().plotLayout()->setRowSpacing(0);
    }
    title_text_ = title;
    markDirty();
}

void CurveChart::setCurves(const std::vector<Curve>& curves, const std::vector<Mark>& marks) {
    for (const QString& key : keys())
        if (std::ranges::count(curves, key, &Curve::key) == 0) resetVisibility(key);
    curves_ = curves;
    marks_ = marks;
    findCoincidingCurves();
    rebuildGraphs();
    while (mark_lines_.size() < marks.size()) {
        mark_lines_.push_back(new QCPItemStraightLine(&plot()));
        mark_texts_.push_back(new QCPItemText(&plot()));
        mark_texts_.back()->setLayer(QStringLiteral("overlay"));
    }
    for (std::size_t i = 0; i < mark_lines_.size(); ++i) {
        mark_lines_[i]->setVisible(i < marks.size());
        mark_texts_[i]->setVisible(i < marks.size());
    }
    redraw();
}

/// Graphs 0 … n − 1 are the curves. The edges of bands follow them, so that indices of curves do not change.
void CurveChart::rebuildGraphs() {
    for (const auto& [curve, edges] : bands_) {
        plot().removeGraph(edges.first);
        plot().removeGraph(edges.second);
    }
    bands_.clear();
    while (plot().graphCount() > static_cast<int>(curves_.size()))
        plot().removeGraph(plot().graphCount() - 1);
    while (plot().graphCount() < static_cast<int>(curves_.size()))
        plot().addGraph();
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = graphOf(i);
        graph->setLayer(i == 0 || curves_[i].bold ? kFront : QStringLiteral("main"));
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        if (curve.low.isEmpty() && !curve.envelope) continue;
        QCPGraph* upper = plot().addGraph();
        QCPGraph* lower = plot().addGraph();
        for (QCPGraph* edge : {upper, lower}) {
            edge->removeFromLegend();
            edge->setPen(Qt::NoPen);
        }
        upper->setChannelFillGraph(lower);
        if (!curve.envelope) {
            upper->setData(curve.x, curve.high, true);
            lower->setData(curve.x, curve.low, true);
        }
        bands_[i] = {upper, lower};
    }
}

/// The plot is laid out for an export only when it is drawn; until then it has the size on the screen.
int CurveChart::pixelColumns(const Canvas& canvas) const {
    return canvas.exported ? static_cast<int>(canvas.size.width()) : plot().axisRect()->width();
}

void CurveChart::fillGraphs(const Canvas& canvas) const {
    constexpr qsizetype kMaxUnthinnedPoints = 4000;
    const QCPRange range = plot().xAxis->range();
    const int columns = std::max(600, 2 * pixelColumns(canvas));
    QVector<double> xs, ys;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = graphOf(i);
        if (!isCurveVisible(curves_[i].key)) continue;
        if (curves_[i].envelope) {
            fillEnvelope(i, std::max(300, pixelColumns(canvas)));
        } else if (curves_[i].x.size() <= kMaxUnthinnedPoints) {
            graph->setData(curves_[i].x, curves_[i].y, true);
        } else {
            thin(curves_[i], range.lower, range.upper, isLogX(), columns, xs, ys);
            graph->setData(xs, ys, true);
        }
    }
}

/// Draws a line while points are distinguishable, and the range of each pixel column otherwise.
void CurveChart::fillEnvelope(std::size_t index, int columns) const {
    const Curve& curve = curves_[index];
    const QCPRange range = plot().xAxis->range();
    QVector<double> xs, ys, line_x, line_y, at, low, high;
    thin(curve, range.lower, range.upper, isLogX(), columns, xs, ys);
    for (qsizetype i = 0; i + 1 < ys.size(); i += 2) {
        // A column with one point has no range.
        const bool alone = ys[i] == ys[i + 1];
        if (alone && at.isEmpty()) {
            line_x << xs[i];
            line_y << ys[i];
            continue;
        }
        at << xs[i];
        low << ys[i];
        high << ys[i + 1];
    }
    if (!at.isEmpty() && !line_x.isEmpty()) {
        line_x << at.front();
        line_y << low.front();
    }
    graphOf(index)->setData(line_x, line_y, true);
    bands_.at(index).first->setData(at, high, true);
    bands_.at(index).second->setData(at, low, true);
}

bool CurveChart::isDrawn(const Curve& curve, qsizetype i) const {
    return std::isfinite(curve.y[i]) && (!isLogX() || curve.x[i] > 0) && (!isLogY() || curve.y[i] > 0);
}

void CurveChart::fitX() const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Curve& curve : curves_)
        for (qsizetype i = 0; isCurveVisible(curve.key) && i < curve.x.size(); ++i) {
            if (!isDrawn(curve, i)) continue;
            low = std::min(low, curve.x[i]);
            high = std::max(high, curve.x[i]);
        }
    if (!(low <= high)) low = 1, high = 10;
    if (high == low) high = isLogX() ? 2 * low : low + 1;
    plot().xAxis->setRange(low, high);
}

/// Fits to the values in the visible x range and to the next points beyond it, where lines lead.
void CurveChart::fitY(const Canvas& canvas) const {
    const QCPRange xs = plot().xAxis->range();
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Curve& curve : curves_)
        for (qsizetype i = 0; isCurveVisible(curve.key) && i < curve.x.size(); ++i) {
            const qsizetype before = std::max<qsizetype>(i - 1, 0),
                            after = std::min(i + 1, curve.x.size() - 1);
            if (!isDrawn(curve, i) || curve.x[after] < xs.lower || curve.x[before] > xs.upper) continue;
            low = std::min(low, curve.low.isEmpty() ? curve.y[i] : curve.low[i]);
            high = std::max(high, curve.high.isEmpty() ? curve.y[i] : curve.high[i]);
        }
    for (const Mark& mark : marks_) {
        if (!mark.across || (isLogY() && mark.at <= 0)) continue;
        low = std::min(low, mark.at);
        high = std::max(high, mark.at);
    }
    if (!(low <= high)) low = isLogY() ? 0.1 : 0, high = 1;
    if (y_floor_) low = std::min(low, *y_floor_);
    if (fullYRange() && !isLogY()) {
        std::tie(low, high) = *fullYRange();
    } else if (const auto& limits = y_limits_ ? y_limits_ : fullYRange()) {
        low = std::max(low, limits->first);
        high = std::min(high, limits->second);
    }
    if (isLogY()) {
        const double margin_factor = std::pow(std::max(high / low, 1.2), kRangeMargin);
        return plot().yAxis->setRange(low / margin_factor, high * margin_factor);
    }
    // Differences due to rounding are ignored: no axis could label them.
    constexpr double kRounding = 1e-9;
    const double size = std::max(std::abs(low), std::abs(high));
    const double range = high - low > kRounding * size ? high - low : std::max(1.0, size);
    const double above = kRangeMargin + (canvas.legend ? legendHeadroom(canvas) : 0);
    plot().yAxis->setRange(low - kRangeMargin * range, high + above * range);
}

bool CurveChart::hasValueIn(const QCPRange& xs, const QCPRange& ys) const {
    for (const Curve& curve : curves_)
        for (qsizetype i = 0; isCurveVisible(curve.key) && i < curve.x.size(); ++i)
            if (xs.contains(curve.x[i]) && ys.contains(curve.y[i])) return true;
    return false;
}

std::vector<const QCPGraph*> CurveChart::curveGraphs() const {
    std::vector<const QCPGraph*> graphs;
    for (std::size_t i = 0; i < curves_.size(); ++i)
        graphs.push_back(graphOf(i));
    return graphs;
}

QStringList CurveChart::keys() const {
    QStringList keys;
    for (const Curve& curve : curves_)
        keys << curve.key;
    return keys;
}

/// Curves that share the legend line, and those hidden along with them.
QStringList CurveChart::keysOf(const QCPAbstractPlottable* entry) const {
    QStringList keys;
    for (std::size_t i = 0; i < curves_.size(); ++i)
        if (graphOf(i) == entry ||
            (coincides_with_[i] && !hasLegendLine(i) && graphOf(*coincides_with_[i]) == entry))
            keys << curves_[i].key;
    for (const Curve& curve : curves_)
        if (keys.contains(curve.hidden_with)) keys << curve.key;
    return keys;
}

/// Reads at the nearest x of any curve, so that a long curve can be read beyond the end of shorter ones.
std::optional<PlotView::Readout> CurveChart::readAt(const QPointF& at) const {
    std::optional<double> x;
    const double wanted = plot().xAxis->pixelToCoord(at.x());
    const auto away = [&](double of) { return std::abs(plot().xAxis->coordToPixel(of) - at.x()); };
    for (const Curve& curve : curves_) {
        if (curve.x.isEmpty() || !isCurveVisible(curve.key)) continue;
        const double nearest = curve.x[nearestIndex(curve.x, wanted)];
        if (!x || away(nearest) < away(*x)) x = nearest;
    }
    return x ? std::optional(Readout{*x, readoutAt(*x, at.y())}) : std::nullopt;
}

/// @param y_px  y of the pointer: the readout gives the formula of the nearest curve, or the name for its
/// letter
QString CurveChart::readoutAt(double x, double y_px) const {
    QStringList parts;
    const Curve* closest = nullptr;
    double least = std::numeric_limits<double>::infinity();
    const auto number = [x](const Curve& curve, int digits) {
        const qsizetype i = nearestIndex(curve.x, x);
        QString text = QString::number(curve.y[i], 'g', digits);
        if (!curve.low.isEmpty() && curve.low[i] < curve.high[i] && digits > kShort)
            text += tr(" (band %1 to %2)").arg(curve.low[i], 0, 'g', 5).arg(curve.high[i], 0, 'g', 5);
        return text;
    };
    for (const Curve& curve : curves_) {
        if (!isCurveVisible(curve.key) || !reaches(curve, x)) continue;
        if (parts.isEmpty())
            parts << QStringLiteral("%1 %2").arg(xName().section("    ", 0, 0)).arg(x, 0, 'g', 7);
        if (!curve.in_legend) continue;
        parts << (curve.letter_label.isEmpty() ? curve.label + ' ' + number(curve, kLong)
                                               : curve.letter_label + ' ' + number(curve, kShort));
        const double y = curve.y[nearestIndex(curve.x, x)];
        const double away = std::abs(plot().yAxis->coordToPixel(y) - y_px);
        if (away < least) {
            least = away;
            closest = &curve;
        }
    }
    if (closest != nullptr && !closest->letter_label.isEmpty())
        parts << QStringLiteral("[%1  %2: %3]")
                     .arg(closest->letter_label, closest->label, number(*closest, kLong));
    if (closest != nullptr && !closest->formula.isEmpty())
        parts << QStringLiteral("[%1: %2]").arg(closest->label, closest->formula);
    return parts.join(QStringLiteral("    ")).replace(QStringLiteral(" -"), QStringLiteral(" −"));
}

}  // namespace roper
