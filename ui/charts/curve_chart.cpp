#include "ui/charts/curve_chart.h"

#include <QScopedValueRollback>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/export_dialog.h"
#include "ui/charts/log_ticker.h"
#include "ui/charts/plot_style.h"

namespace roper {
namespace {

constexpr double kRangeMargin = 0.05;
constexpr int kLong = 7, kShort = 4;  // digits of a number in the readout
const QString kFront =
    QStringLiteral("front");  // the layer of the first curve: what is compared lies behind it

/// Index of the point nearest in x. `x` ascends.
qsizetype nearest(const QVector<double>& x, double at) {
    const auto after = std::lower_bound(x.begin(), x.end(), at);
    if (after == x.begin()) return 0;
    if (after == x.end()) return x.size() - 1;
    const auto index = after - x.begin();
    return at - x[index - 1] < x[index] - at ? index - 1 : index;
}

/// The x of each curve that is the nearest to a place.
QVector<double> nearestOfEach(const std::vector<CurveChart::Curve>& curves, double at) {
    QVector<double> found;
    for (const CurveChart::Curve& curve : curves)
        if (!curve.x.isEmpty()) found << curve.x[nearest(curve.x, at)];
    return found;
}

/// Whether a curve has a value at a place, or half the way to its next point beyond its end.
bool reaches(const CurveChart::Curve& curve, double at) {
    if (curve.x.isEmpty()) return false;
    const double gap =
        curve.x.size() < 2 ? 0 : (curve.x.back() - curve.x.front()) / static_cast<double>(curve.x.size() - 1);
    return at >= curve.x.front() - gap / 2 && at <= curve.x.back() + gap / 2;
}

/// The smallest and the largest value of each pixel column of [low, high]; curves of few points stay as they
/// are.
void thin(const CurveChart::Curve& curve, double low, double high, bool log, int columns, QVector<double>& xs,
          QVector<double>& ys) {
    xs.clear();
    ys.clear();
    const auto place = [log](double x) { return log ? std::log(std::max(x, 1e-300)) : x; };
    const double first = place(low), width = (place(high) - first) / columns;
    int column = -1;
    double smallest = 0, largest = 0, at = 0;
    const auto finish = [&] {
        if (column < 0) return;
        xs << at << at;
        ys << smallest << largest;
    };
    for (qsizetype i = 0; i < curve.x.size(); ++i) {
        // One point beyond each end, so that lines reach the edge.
        const bool before = i + 1 < curve.x.size() && curve.x[i + 1] < low;
        const bool after = i > 0 && curve.x[i - 1] > high;
        if (before || after || std::isnan(curve.y[i])) continue;
        const int here =
            static_cast<int>(std::clamp((place(curve.x[i]) - first) / width, -1.0, columns + 1.0)) + 1;
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
    : QWidget(parent),
      name_(name),
      x_name_(x),
      y_name_(y),
      plot_(new QCustomPlot),
      crosshair_(new QCPItemStraightLine(plot_)),
      empty_label_(new QCPItemText(plot_)),
      letters_(new CurveLetters(*plot_)),
      legend_(*plot_) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(plot_);
    setMinimumSize(220, 140);
    setAccessibleName(y);
    plot_->setAccessibleName(y);
    plot_->setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
    plot_->setFocusPolicy(Qt::ClickFocus);
    plot_->setContextMenuPolicy(Qt::CustomContextMenu);  // a plot keeps the events of its menu to itself
    connect(plot_, &QWidget::customContextMenuRequested, this,
            [this](const QPoint& at) { showExportMenu(*this, plot_->mapToGlobal(at), this); });
    plot_->legend->setIconSize(18, 8);
    plot_->legend->setRowSpacing(0);
    plot_->axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignTop | Qt::AlignRight);
    plot_->addLayer(kFront, plot_->layer(QStringLiteral("main")));
    crosshair_->setVisible(false);
    empty_label_->setVisible(false);
    empty_label_->position->setType(QCPItemPosition::ptAxisRectRatio);
    empty_label_->position->setCoords(0.5, 0.5);
    plot_->installEventFilter(this);
    connect(plot_, &QCustomPlot::mouseMove, this, &CurveChart::onMove);
    connect(plot_, &QCustomPlot::mouseDoubleClick, this, [this] {
        zoomed_ = false;
        refit();
    });
    connect(plot_, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (event->button() == Qt::LeftButton && plot_->axisRect()->rect().contains(event->pos()))
            emit clicked(plot_->xAxis->pixelToCoord(event->position().x()));
    });
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis})
        connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this] {
            if (fitting_ || curves_.empty()) return;
            zoomed_ = true;
            fillGraphs();
        });
    connect(plot_, &QCustomPlot::afterLayout, this, &CurveChart::placeMarkLabels);
    setAxisNames(x, y);
    applyOwnTheme();
}

void CurveChart::setTitle(const QString& title) {
    if (title_ == nullptr) {
        plot_->plotLayout()->insertRow(0);
        title_ = new QCPTextElement(plot_);
        title_->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter);
        title_->setMargins({8, 2, 0, 0});
        plot_->plotLayout()->addElement(0, 0, title_);
        plot_->plotLayout()->setRowSpacing(0);
    }
    title_text_ = title;
    applyOwnTheme();
}

void CurveChart::setAxisNames(const QString& x, const QString& y) {
    x_name_ = x;
    y_name_ = y;
    plot_->xAxis->setLabel(x);
    plot_->yAxis->setLabel(y);
}

void CurveChart::setLog(bool x, bool y) {
    if (x == log_x_ && y == log_y_) return;
    const QScopedValueRollback fitting(fitting_, true);
    log_x_ = x;
    log_y_ = y;
    zoomed_ = false;
    for (auto [axis, log] : {std::pair{plot_->xAxis, x}, {plot_->yAxis, y}}) {
        axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
        axis->setTicker(log ? QSharedPointer<QCPAxisTicker>(new LogTicker)
                            : QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
    }
}

void CurveChart::setCurves(const std::vector<Curve>& curves, const std::vector<Mark>& marks) {
    curves_ = curves;
    marks_ = marks;
    findCoincidingCurves();
    remakeGraphs();
    while (mark_lines_.size() < marks.size()) {
        mark_lines_.push_back(new QCPItemStraightLine(plot_));
        mark_texts_.push_back(new QCPItemText(plot_));
        mark_texts_.back()->setLayer(QStringLiteral("overlay"));
    }
    for (std::size_t i = 0; i < mark_lines_.size(); ++i) {
        mark_lines_[i]->setVisible(i < marks.size());
        mark_texts_[i]->setVisible(i < marks.size());
    }
    showEmptyText();
    refit();
}

void CurveChart::setEmptyText(const QString& text) {
    empty_text_ = text;
    showEmptyText();
    applyOwnTheme();
}

/// Without axes behind it: there is nothing to read off them.
void CurveChart::showEmptyText() {
    const bool is_empty = curves_.empty() && !empty_text_.isEmpty();
    empty_label_->setVisible(is_empty);
    for (QCPAxis* axis : {plot_->xAxis, plot_->yAxis})
        axis->setVisible(!is_empty);
}

/// Graphs 0 … n − 1 are the curves; the edges of bands come after them, so that their numbers stay.
void CurveChart::remakeGraphs() {
    for (const auto& [curve, edges] : bands_) {
        plot_->removeGraph(edges.first);
        plot_->removeGraph(edges.second);
    }
    bands_.clear();
    while (plot_->graphCount() > static_cast<int>(curves_.size()))
        plot_->removeGraph(plot_->graphCount() - 1);
    while (plot_->graphCount() < static_cast<int>(curves_.size()))
        plot_->addGraph();
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        graph->setLayer(i == 0 || curves_[i].strong ? kFront : QStringLiteral("main"));
    }
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        const Curve& curve = curves_[i];
        if (curve.low.isEmpty() && !curve.envelope) continue;
        QCPGraph* upper = plot_->addGraph();
        QCPGraph* lower = plot_->addGraph();
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

void CurveChart::fillGraphs() {
    constexpr qsizetype kFew = 4000;
    const QCPRange range = plot_->xAxis->range();
    const int columns = std::max(600, 2 * plot_->axisRect()->width());
    QVector<double> xs, ys;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
        QCPGraph* graph = plot_->graph(static_cast<int>(i));
        if (curves_[i].envelope) {
            fillEnvelope(i);
        } else if (curves_[i].x.size() <= kFew) {
            graph->setData(curves_[i].x, curves_[i].y, true);
        } else {
            thin(curves_[i], range.lower, range.upper, log_x_, columns, xs, ys);
            graph->setData(xs, ys, true);
        }
    }
}

/// A line where its points can be told apart; where they share pixels, the range of each pixel.
void CurveChart::fillEnvelope(std::size_t index) {
    const Curve& curve = curves_[index];
    const QCPRange range = plot_->xAxis->range();
    const int columns = std::max(300, plot_->axisRect()->width());
    QVector<double> xs, ys, line_x, line_y, at, low, high;
    thin(curve, range.lower, range.upper, log_x_, columns, xs, ys);
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
    plot_->graph(static_cast<int>(index))->setData(line_x, line_y, true);
    bands_.at(index).first->setData(at, high, true);
    bands_.at(index).second->setData(at, low, true);
}

void CurveChart::fitAxes(const QFont& font, double height, bool legend) const {
    const QScopedValueRollback fitting(fitting_, true);
    double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low, y_low = x_low, y_high = -x_low;
    for (const Curve& curve : curves_) {
        for (qsizetype i = 0; i < curve.x.size(); ++i) {
            if (!std::isfinite(curve.y[i]) || (log_x_ && curve.x[i] <= 0) || (log_y_ && curve.y[i] <= 0))
                continue;
            x_low = std::min(x_low, curve.x[i]);
            x_high = std::max(x_high, curve.x[i]);
            y_low = std::min(y_low, curve.low.isEmpty() ? curve.y[i] : curve.low[i]);
            y_high = std::max(y_high, curve.high.isEmpty() ? curve.y[i] : curve.high[i]);
        }
    }
    for (const Mark& mark : marks_) {
        if (!mark.across || (log_y_ && mark.at <= 0)) continue;
        y_low = std::min(y_low, mark.at);
        y_high = std::max(y_high, mark.at);
    }
    if (!(x_low <= x_high)) x_low = 1, x_high = 10;
    if (!(y_low <= y_high)) y_low = log_y_ ? 0.1 : 0, y_high = 1;
    if (y_floor_) y_low = std::min(y_low, *y_floor_);
    if (y_limits_) {
        y_low = std::max(y_low, y_limits_->first);
        y_high = std::min(y_high, y_limits_->second);
    }
    if (log_y_) {
        const double stretch = std::pow(std::max(y_high / y_low, 1.2), kRangeMargin);
        plot_->yAxis->setRange(y_low / stretch, y_high * stretch);
    } else {
        // What differs by rounding alone is a constant: no axis could label it.
        constexpr double kRounding = 1e-9;
        const double size = std::max(std::abs(y_low), std::abs(y_high));
        const double range = y_high - y_low > kRounding * size ? y_high - y_low : std::max(1.0, size);
        plot_->yAxis->setRange(y_low - kRangeMargin * range,
                               y_high + (kRangeMargin + (legend ? roomForLegend(font, height) : 0)) * range);
    }
    if (x_high == x_low) x_high = log_x_ ? 2 * x_low : x_low + 1;
    plot_->xAxis->setRange(x_low, x_high);
}

void CurveChart::onMove(QMouseEvent* event) {
    if (curves_.empty() || !plot_->axisRect()->rect().contains(event->pos())) {
        setPointed(std::nullopt);
        return emit pointed({});
    }
    // The point of any curve that is the nearest, so that a long curve is read where shorter ones have ended.
    double at = plot_->xAxis->pixelToCoord(event->position().x());
    double nearest_px = std::numeric_limits<double>::infinity();
    for (const double x : nearestOfEach(curves_, at)) {
        const double px = std::abs(plot_->xAxis->coordToPixel(x) - event->position().x());
        if (px >= nearest_px) continue;
        nearest_px = px;
        at = x;
    }
    QStringList parts;
    const Curve* closest = nullptr;  // to the pointer: its formula is told, or what its letter stands for
    double least = std::numeric_limits<double>::infinity();
    const auto number = [at](const Curve& curve, int digits) {
        const qsizetype i = nearest(curve.x, at);
        QString text = QString::number(curve.y[i], 'g', digits);
        if (!curve.low.isEmpty() && curve.low[i] < curve.high[i] && digits > kShort)
            text += tr(" (band %1 to %2)").arg(curve.low[i], 0, 'g', 5).arg(curve.high[i], 0, 'g', 5);
        return text;
    };
    for (const Curve& curve : curves_) {
        if (!reaches(curve, at)) continue;
        if (parts.isEmpty())
            parts << QStringLiteral("%1 %2").arg(x_name_.section("    ", 0, 0)).arg(at, 0, 'g', 7);
        if (!curve.in_legend) continue;
        parts << (curve.letter.isEmpty() ? curve.label + ' ' + number(curve, kLong)
                                         : curve.letter + ' ' + number(curve, kShort));
        const double y = curve.y[nearest(curve.x, at)];
        const double away = std::abs(plot_->yAxis->coordToPixel(y) - event->position().y());
        if (away < least) {
            least = away;
            closest = &curve;
        }
    }
    if (closest != nullptr && !closest->letter.isEmpty())
        parts << QStringLiteral("[%1  %2: %3]").arg(closest->letter, closest->label, number(*closest, kLong));
    if (closest != nullptr && !closest->formula.isEmpty())
        parts << QStringLiteral("[%1: %2]").arg(closest->label, closest->formula);
    setPointed(at);
    if (!parts.isEmpty()) emit xPointed(at);
    emit pointed(parts.join(QStringLiteral("    ")).replace(QStringLiteral(" -"), QStringLiteral(" −")));
}

bool CurveChart::eventFilter(QObject* watched, QEvent* event) {
    if (watched == plot_ && event->type() == QEvent::Leave) leaveEvent(event);
    return QWidget::eventFilter(watched, event);
}

/// Draws it for the size, colours and font that it has now.
void CurveChart::refit() {
    applyOwnTheme();
    if (!zoomed_) fitOwnAxes();
    fillGraphs();
    plot_->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    plot_->replot(QCustomPlot::rpQueuedReplot);  // what was pointed at meanwhile
}

void CurveChart::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    refit();
}

void CurveChart::setPointed(std::optional<double> x) {
    if (x == pointed_) return;
    pointed_ = x;
    const bool shown = x && (!log_x_ || *x > 0);
    crosshair_->setVisible(shown);
    if (shown) {
        crosshair_->point1->setCoords(*x, 1);
        crosshair_->point2->setCoords(*x, 2);
    }
    if (isVisible()) plot_->replot(QCustomPlot::rpQueuedReplot);
}

void CurveChart::leaveEvent(QEvent*) {
    setPointed(std::nullopt);
    emit pointed({});
}

void CurveChart::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) refit();
}

}  // namespace roper
