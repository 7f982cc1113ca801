#pragma once

#include <functional>
#include <map>
#include <optional>

#include "ui/charts/centred_mean.h"
#include "ui/charts/min_max_pyramid.h"
#include "ui/charts/plot_view.h"

namespace roper {

/// Live curves of many runs. Each series is drawn raw (thin, pale) and smoothed (bold), from a pyramid, so
/// that the cost depends on the width of the chart and not on the length of the runs.
class MetricChart : public PlotView {
    Q_OBJECT

  public:
    /// @param name   of the exported file
    /// @param value  what is on the y axis
    MetricChart(const QString& name, const QString& value, QWidget* parent);

    struct Point {
        double step, time_s, tokens, value;
    };
    enum class XAxis { step, time, tokens };

    /// How a series is told apart, also in print without colours: series of one label share an entry of the
    /// legend, and dash and marker go with it.
    static constexpr int kRing = 7, kStar = 8;  ///< markers with a meaning of their own: a star marks a
                                                ///< place on another series, and is named by its legend
    struct Look {
        QString label;
        QColor color;
        int dash = 0;            ///< 0: a solid line; others count through kinds of dashes
        int marker = 0;          ///< 0: none; others count through shapes
        bool chosen = false;     ///< drawn with a wider line
        QString name = {};       ///< in readouts, where it tells more than the label
        QString letter = {};     ///< on the curve and before the label, where dashes are too few
        bool evaluated = false;  ///< a loss of evaluations, few: drawn as they are, read with its perplexity
        bool operator==(const Look&) const = default;
    };

    /// Series are known by key.
    void addSeries(const QString& key, const Look& look);
    void setLook(const QString& key, const Look& look);
    void removeSeries(const QString& key);
    bool hasSeries(const QString& key) const { return series_.count(key) > 0; }
    void append(const QString& key, const Point& point);
    void clear(const QString& key);
    /// A dashed line at a value that the series is measured against, such as the least it can reach.
    void setReference(const QString& key, double value, const QString& name);

    void setAcross(XAxis across);
    /// Draws means of so many values, centred; 1: the values themselves.
    void setSmoothing(int values);
    void setLogX(bool on) { setLog(on, isLogY()); }
    void setLogY(bool on) { setLog(isLogX(), on); }

    /// Least and greatest x of what is shown; nothing without points.
    using Stretch = std::optional<std::pair<double, double>>;
    Stretch stretch() const;
    /// What it shows while it follows, if not its own stretch: charts beside each other share one.
    void setSharedStretch(const std::function<Stretch()>& shared) { shared_stretch_ = shared; }
    /// Another chart that shares the stretch has new points.
    void keepUp();

    /// Another quantity: all series go.
    /// @param name, value  as in the constructor
    void setValue(const QString& name, const QString& value);

    /// Whether the legend is shown; not decided, it is as long as it leaves the curves in sight. Few entries
    /// stand in a corner inside the axes, more in columns below them.
    void setLegendShown(std::optional<bool> shown);
    bool isLegendShown() const;
    /// Whether its legend is shown and lists all curves that another chart's would.
    bool lists(const MetricChart& other) const;
    /// Says whether a chart beside this one lists what it would list below its axes: once is enough.
    void setListedElsewhere(const std::function<bool()>& elsewhere) { listed_elsewhere_ = elsewhere; }

    std::size_t pointCount(const QString& key) const;

    bool hasLegend() const override { return legend_shown_.value_or(!legendSeries().empty()); }
    QString figureCsv() const override;
    QString figureCaption() const override;

  protected:
    void applyLook(const Canvas& canvas) const override;
    void fillLegend(const Canvas& canvas) const override;
    void fitX() const override;
    void fitY(const Canvas& canvas) const override;
    /// Of what is exported more points than any screen shows: thinning is for the screen.
    void fillGraphs(const Canvas& canvas) const override;
    bool showsLegend() const override { return legend_shown_.value_or(hasRoomForLegend()); }
    QString whyEmpty() const override;
    std::vector<const QCPGraph*> curveGraphs() const override;
    QStringList keys() const override;
    QStringList keysOf(const QCPAbstractPlottable* entry) const override;
    bool anyValueIn(const QCPRange& xs, const QCPRange& ys) const override;
    std::optional<Readout> readAt(const QPointF& at) const override;

  private:
    struct Series {
        QString key;
        Look look;
        std::vector<Point> points;
        MinMaxPyramid raw;
        CentredMean mean;
        QCPGraph* raw_graph = nullptr;
        QCPGraph* smooth_graph = nullptr;
        QCPGraph* mark_graph = nullptr;  ///< a cross at the top for each value that is not finite
        QCPItemStraightLine* reference_line = nullptr;  ///< only where one is known
        QCPGraph* reference_graph = nullptr;            ///< without data: its entry of the legend
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
    /// Whether a chart beside this one lists its entries, and so it does not.
    bool isListedElsewhere(const std::vector<PlotLegend::Entry>& entries) const;
    bool hasRoomForLegend() const;
    void placeLetters() const;
    /// Values on either side that a mean is taken over.
    std::size_t halfWidth(const Series& series) const {
        return series.look.evaluated ? 0 : static_cast<std::size_t>(smoothing_) / 2;
    }
    /// Whether a legend of these entries has no room in a corner inside the axes.
    static bool standsBelow(const std::vector<PlotLegend::Entry>& entries);
    void applyPens(const Series& series, const Theme& theme) const;
    /// What is read of a series at the pointer.
    struct Reading {
        double distance, value;
        QString kind;  ///< its label, as series of other runs have it
        QString text;
    };
    QString positionText(double x) const;
    std::vector<Reading> readingsAt(double x, double y) const;
    static QStringList kindTexts(const std::vector<Reading>& readings);
    static QString kindText(const std::vector<const Reading*>& readings);
    QString readoutAt(double x, double y) const;
    QString acrossName() const;

    std::map<QString, Series> series_;
    XAxis across_ = XAxis::step;
    int smoothing_ = 1;  ///< values that are averaged
    std::optional<bool> legend_shown_;
    std::function<bool()> listed_elsewhere_;
    std::function<Stretch()> shared_stretch_;
};

}  // namespace roper
