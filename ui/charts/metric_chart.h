#pragma once

#include <functional>
#include <map>
#include <optional>

#include "ui/charts/plot_view.h"
#include "ui/charts/series.h"

namespace roper {

/// Live curves of many runs. Each series is drawn raw (thin, pale) and smoothed (bold). `MinMaxPyramid` makes
/// the cost depend on the width of the chart, not on the length of the runs.
class MetricChart : public PlotView {
    Q_OBJECT

  public:
    /// @param name   of the exported file
    /// @param value  name of the y axis
    MetricChart(const QString& name, const QString& value, QWidget* parent);

    struct Point {
        double step, time_s, tokens, value;
    };
    enum class XAxis { step, time, tokens };

    /// Special markers. A star marks a point on another series, whose legend entry explains it.
    static constexpr int kRing = 7, kStar = 8;
    /// The look of a series, distinguishable in print without colors: series with the same label share a
    /// legend entry, dash and marker.
    struct CurveStyle {
        QString label;
        QColor color;
        int dash = 0;               ///< 0: solid; other numbers cycle through dash patterns
        int marker = 0;             ///< 0: none; other numbers cycle through shapes
        bool chosen = false;        ///< drawn with a wider line
        QString name = {};          ///< in readouts, if more specific than the label
        QString letter_label = {};  ///< on the curve and before the label, if there are too many for dashes
        /// a loss of evaluations: few points, drawn unsmoothed, read with its perplexity
        bool evaluated = false;
        /// The name, or the label if there is no name.
        const QString& specificName() const { return name.isEmpty() ? label : name; }
        bool operator==(const CurveStyle&) const = default;
    };

    /// Series are identified by key.
    void addSeries(const QString& key, const CurveStyle& style);
    void setCurveStyle(const QString& key, const CurveStyle& style);
    void removeSeries(const QString& key);
    bool hasSeries(const QString& key) const { return series_.count(key) > 0; }
    void append(const QString& key, const Point& point);
    void clear(const QString& key);
    /// A dashed line at a reference value of the series, such as its minimum.
    void setReference(const QString& key, double value, const QString& name);

    void setXAxis(XAxis across);
    /// Number of values in each centered mean; 1: the values themselves.
    void setSmoothing(int values);
    void setLogX(bool on) { setLog(on, isLogY()); }
    void setLogY(bool on) { setLog(isLogX(), on); }

    /// Smallest and largest x of the visible series; empty without points.
    using XRange = std::optional<std::pair<double, double>>;
    XRange xRange() const;
    /// Range of x shown while autoscaled, if charts next to each other share one; by default `xRange`.
    void setSharedXRange(const std::function<XRange()>& shared) { shared_x_range_ = shared; }
    /// Called when another chart that shares the range has new points.
    void refitSharedRange();

    /// Changes the quantity and removes all series.
    /// @param name, value  as in the constructor
    void setValue(const QString& name, const QString& value);

    /// Whether the legend is shown; nullopt: shown as long as there is enough room for the curves. Few
    /// entries are in a corner inside the axes, more in columns below.
    void setLegendShown(std::optional<bool> shown);
    bool isLegendShown() const;
    /// Whether its legend is shown and contains all entries of another chart's.
    bool legendContains(const MetricChart& other) const;
    /// @param elsewhere  whether a neighboring chart lists the entries that this one would list below itself
    void setListedElsewhere(const std::function<bool()>& elsewhere) { listed_elsewhere_ = elsewhere; }

    std::size_t pointCount(const QString& key) const;

    bool hasLegend() const override { return legend_shown_.value_or(!legendSeries().empty()); }
    QString figureCsv() const override;
    QString figureCaption() const override;

  protected:
    void applyStyle(const Canvas& canvas) const override;
    void fillLegend(const Canvas& canvas) const override;
    void fitX() const override;
    void fitY(const Canvas& canvas) const override;
    /// Data is thinned to the pixel columns of the screen, and less for exports.
    void fillGraphs(const Canvas& canvas) const override;
    bool showsLegend() const override { return legend_shown_.value_or(hasRoomForLegend()); }
    QString emptyReason() const override;
    std::vector<const QCPGraph*> curveGraphs() const override;
    QStringList keys() const override;
    QStringList keysOf(const QCPAbstractPlottable* entry) const override;
    bool hasValueIn(const QCPRange& xs, const QCPRange& ys) const override;
    std::optional<Readout> readAt(const QPointF& at) const override;

  private:
    struct Series {
        QString key;
        CurveStyle style;
        std::vector<Point> points;
        MinMaxPyramid raw;
        CenteredMean mean;
        QCPGraph* raw_graph = nullptr;
        QCPGraph* smooth_graph = nullptr;
        QCPGraph* mark_graph = nullptr;                 ///< a cross at the top for each non-finite value
        QCPItemStraightLine* reference_line = nullptr;  ///< only if there is a reference
        QCPGraph* reference_graph = nullptr;            ///< without data: its legend entry
        double reference = 0;
        QString reference_name;
    };

    double xOf(const Point& point) const;
    void rebuild(Series& series);
    void extend(Series& series, const Point& point);
    void collectMeans(const Series& series, std::size_t columns, std::vector<double>& xs,
                      std::vector<double>& ys) const;
    void applyMarkers(const Series& series) const;
    std::vector<const Series*> legendSeries() const;
    std::vector<PlotLegend::Entry> legendEntries(const Theme& theme) const;
    std::vector<PlotLegend::Entry> referenceEntries(const Theme& theme) const;
    /// Whether a neighboring chart lists these entries, so that this one does not.
    bool isListedElsewhere(const std::vector<PlotLegend::Entry>& entries) const;
    bool hasRoomForLegend() const;
    void placeLetters() const;
    /// Number of values on each side that enter a mean.
    std::size_t halfWidth(const Series& series) const {
        return series.style.evaluated ? 0 : static_cast<std::size_t>(smoothing_) / 2;
    }
    /// Whether these entries do not fit in a corner inside the axes.
    static bool needsLegendBelow(const std::vector<PlotLegend::Entry>& entries);
    void applyPens(const Series& series, const Theme& theme) const;
    /// Readout of a series at the pointer.
    struct Reading {
        double distance, value;  ///< distance of the value from the pointer, in units of y
        QString kind;            ///< the label, which series of similar runs share
        QString text;
    };
    QString positionText(double x) const;
    std::vector<Reading> readingsAt(double x, double y) const;
    static QStringList kindTexts(const std::vector<Reading>& readings);
    static QString kindText(const std::vector<const Reading*>& readings);
    QString readoutAt(double x, double y) const;
    QString xAxisName() const;

    std::map<QString, Series> series_;
    XAxis x_axis_ = XAxis::step;
    int smoothing_ = 1;  ///< number of averaged values
    std::optional<bool> legend_shown_;
    std::function<bool()> listed_elsewhere_;
    std::function<XRange()> shared_x_range_;
};

}  // namespace roper
