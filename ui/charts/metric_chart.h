#pragma once

#include <qcustomplot.h>

#include <QMenu>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <map>
#include <optional>

#include "ui/charts/centred_mean.h"
#include "ui/charts/curve_letters.h"
#include "ui/charts/figure.h"
#include "ui/charts/min_max_pyramid.h"
#include "ui/charts/plot_legend.h"
#include "ui/theme/zoom.h"

namespace roper {

/// Live curves of many runs. Each series is drawn raw (thin, pale) and smoothed (bold), from a pyramid, so
/// that the cost depends on the width of the chart and not on the length of the runs. Appending only marks
/// the chart; it is drawn at most once in 33 ms. Dragging zooms into a box, or into a stretch of x where the
/// box is flat; the wheel zooms, Shift-dragging moves, a double click follows again.
class MetricChart : public QWidget, public Figure {
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
    void setShown(const QString& key, bool shown);
    bool isShown(const QString& key) const;
    /// Shows the series of one label alone; if they already are alone, shows all.
    void isolate(const QString& label);

    void setAcross(XAxis across);
    /// Draws means of so many values, centred; 1: the values themselves.
    void setSmoothing(int values);
    void setLogX(bool on);
    void setLogY(bool on);
    void follow();
    bool isFollowing() const { return follow_x_ && follow_y_; }
    /// A stretch of x, as a chart beside it shows it, and all values there.
    void showStretch(double from, double to);
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
    /// Adds to the menu behind a right-click.
    void setMenuExtras(const std::function<void(QMenu&)>& extras) { menu_extras_ = extras; }

    /// Whether the legend is shown; not decided, it is as long as it leaves the curves in sight. Few entries
    /// stand in a corner inside the axes, more in columns below them.
    void setLegendShown(std::optional<bool> shown);
    bool isLegendShown() const;
    /// Whether its legend is shown and lists all curves that another chart's would.
    bool lists(const MetricChart& other) const;
    /// Says whether a chart beside this one lists what it would list below its axes: once is enough.
    void setListedElsewhere(const std::function<bool()>& elsewhere) { listed_elsewhere_ = elsewhere; }

    /// Whether the axes are named on the screen; in exported pictures they always are.
    void setNamesShown(bool x, bool y);

    /// What an empty chart says.
    void setEmptyText(const QString& text) { empty_text_ = text; }

    std::size_t pointCount(const QString& key) const;
    QCustomPlot& plot() { return *plot_; }
    /// Draws now if anything is new; tests and exports need not wait for the timer.
    void redrawNow();

    QString figureName() const override { return name_; }
    QSize figureSize() const override { return size() / Zoom::instance().factor(); }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    bool hasLegend() const override { return legend_shown_.value_or(!legendSeries().empty()); }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    QString figureCsv() const override;
    QString figureCaption() const override;

  signals:
    /// The numbers at the pointer's x: of few series each, of many a summary by kind and the nearest.
    void pointed(const QString& readout);
    /// A series was hidden or shown by its legend entry.
    void shownChanged(const QString& key, bool shown);
    /// A person zoomed or moved along x, or asked for everything again.
    void stretchChosen(double from, double to);
    void followed();

  protected:
    void changeEvent(QEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    struct Series {
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
        bool shown = true;
    };

    double xOf(const Point& point) const;
    void rebuild(Series& series);
    void extend(Series& series, const Point& point);
    void markDirty();
    std::size_t screenColumns() const;
    void fillGraphs(std::size_t columns) const;
    void collectMeans(const Series& series, std::size_t columns, std::vector<double>& xs,
                      std::vector<double>& ys) const;
    void applyMarkers(const Series& series) const;
    std::vector<const Series*> legendSeries() const;
    std::vector<PlotLegend::Entry> legendEntries(const Theme& theme) const;
    std::vector<PlotLegend::Entry> referenceEntries(const Theme& theme) const;
    /// Whether a chart beside this one lists its entries, and so it does not.
    bool isListedElsewhere(const std::vector<PlotLegend::Entry>& entries) const;
    bool hasRoomForLegend() const;
    void fillLegend(const std::vector<PlotLegend::Entry>& entries, bool shown, const QFont& font,
                    QSizeF picture) const;
    void fillOwnLegend() const;
    void placeLetters() const;
    /// Values on either side that a mean is taken over.
    std::size_t halfWidth(const Series& series) const {
        return series.look.evaluated ? 0 : static_cast<std::size_t>(smoothing_) / 2;
    }
    /// Whether a legend of these entries has no room in a corner inside the axes.
    static bool standsBelow(const std::vector<PlotLegend::Entry>& entries);
    bool placeLegend();
    double lengthBehind(const QRectF& area) const;
    void fitX();
    void fitY();
    void zoomInto(const QRect& box);
    bool anyValueIn(const QCPRange& xs, const QCPRange& ys) const;
    void applyTheme(const Theme& theme, const QFont& font) const;
    void applyPens(const Series& series, const Theme& theme) const;
    void applyAxisKinds();
    void applyNames(bool x, bool y) const;
    void applyTickCount(double height) const;
    void onLegendClick(QCPAbstractLegendItem* item, bool isolate);
    void onMouseMove(QMouseEvent* event);
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

    QString name_, value_, empty_text_;
    QCustomPlot* plot_;
    QCPItemStraightLine* crosshair_;
    QCPItemText* empty_label_;
    CurveLetters* letters_;
    mutable PlotLegend legend_;
    QTimer timer_;
    std::map<QString, Series> series_;
    XAxis across_ = XAxis::step;
    int smoothing_ = 1;  ///< values that are averaged
    bool log_x_ = false, log_y_ = false;
    bool x_named_ = true, y_named_ = true;
    bool follow_x_ = true, follow_y_ = true;  ///< whether a range is that of all points, and grows with them
    std::optional<bool> legend_shown_;
    std::function<bool()> listed_elsewhere_;
    std::function<void(QMenu&)> menu_extras_;
    std::function<Stretch()> shared_stretch_;
    bool fitting_ = false;  ///< ranges are being set by us, not by hand
    bool dirty_ = true;
};

}  // namespace roper
