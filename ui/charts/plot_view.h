#pragma once

#include <qcustomplot.h>

#include <QMenu>
#include <QTimer>
#include <QWidget>
#include <functional>
#include <optional>
#include <set>

#include "ui/charts/curve_letters.h"
#include "ui/charts/figure.h"
#include "ui/charts/plot_legend.h"

namespace roper {

/// Curves over one x axis: the common base of live and computed charts. It owns the axes, the legend, the
/// crosshair with its readout, the letters on curves, the text of an empty chart, mouse and key handling, and
/// export.
///
/// The wheel zooms at the pointer. Dragging zooms into a box, or into a range of x if the box is flat;
/// dragging with Shift or the middle button moves. A double click shows all again. Over the numbers of an
/// axis, the wheel and moving change only that axis. Keys: + − zoom, Ctrl with arrows moves, 0 shows all,
/// Left and Right move the crosshair. A click in the legend toggles a curve, a double click shows it alone.
///
/// Changes mark the chart as dirty; it is redrawn at most once in 33 ms.
class PlotView : public QWidget, public Figure {
    Q_OBJECT

  public:
    QCustomPlot& plot() const { return *plot_; }

    void setLog(bool x, bool y);
    /// Whether x counts something, so that a linear x axis has ticks at whole numbers alone.
    void setWholeX(bool whole);
    /// A range that the linear y axis always shows, such as 0 to 100 for percentages.
    void setFullYRange(std::optional<std::pair<double, double>> range);
    /// Shows all points, and keeps up with new ones until the user zooms or moves.
    void autoscale();
    bool isAutoscaled() const { return autoscale_x_ && autoscale_y_; }
    /// Shows a range of x, as a neighboring chart does, with all values in it.
    void showXRange(double from, double to);

    /// Shows or hides a curve, or all curves with the same key.
    void setCurveVisible(const QString& key, bool shown);
    bool isCurveVisible(const QString& key) const { return hidden_.count(key) == 0; }

    /// Moves the crosshair to the x under the pointer, possibly in another figure; nullopt hides it.
    void setHovered(std::optional<double> x);
    /// Text of an empty chart.
    void setEmptyText(const QString& text);
    /// Whether axis names are shown on the screen; exports always have them.
    void setNamesShown(bool x, bool y);
    /// Adds entries to the context menu.
    void setMenuExtras(const std::function<void(QMenu&)>& extras) { extra_menu_entries_ = extras; }
    /// Draws pending changes now, without waiting for the timer; for tests and exports.
    void redrawNow();

    QString figureName() const override { return name_; }
    QSize figureSize() const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(hasLegend(), painter, area, theme);
    }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;

  signals:
    /// Emitted with the numbers at the crosshair; empty when the pointer has left.
    void hovered(const QString& readout);
    /// Emitted with the x of the crosshair.
    void xHovered(double x);
    /// Emitted with the x of a click.
    void clicked(double x);
    /// Emitted when the user toggles a curve in the legend.
    void curveVisibilityChanged(const QString& key, bool shown);
    /// Emitted when the user zooms or moves along x, or shows all again.
    void xRangeChosen(double from, double to);
    void autoscaled();

  protected:
    /// @param name  of the exported file
    PlotView(const QString& name, const QString& x, const QString& y, QWidget* parent);

    /// The target of drawing: the screen or an export.
    struct Canvas {
        Theme theme;
        QFont font;
        QSizeF size;  ///< in the pixels in which `font` is measured
        bool legend;
        bool exported;
    };

    /// Drawing steps, in this order: sizes and colors; legend and letters; ranges of autoscaled axes; points,
    /// thinned for these ranges.
    virtual void applyStyle(const Canvas& canvas) const = 0;
    virtual void fillLegend(const Canvas& canvas) const = 0;
    virtual void fitX() const = 0;
    virtual void fitY(const Canvas& canvas) const = 0;
    virtual void fillGraphs(const Canvas& canvas) const = 0;

    /// The font of axes and legend.
    virtual QFont axisFont(const QFont& font) const { return font; }
    virtual bool showsLegend() const { return hasLegend(); }
    /// Why there are no curves; empty if there are some.
    virtual QString emptyReason() const = 0;
    /// Every curve once, visible or hidden.
    virtual std::vector<const QCPGraph*> curveGraphs() const = 0;
    virtual QStringList keys() const = 0;
    /// Keys of the curves that a legend entry stands for.
    virtual QStringList keysOf(const QCPAbstractPlottable* entry) const = 0;
    /// Whether a visible curve has a point in both ranges.
    virtual bool hasValueIn(const QCPRange& xs, const QCPRange& ys) const = 0;
    struct Readout {
        double x;  ///< position of the crosshair
        QString text;
    };
    /// The readout at a point inside the axes, in pixels.
    virtual std::optional<Readout> readAt(const QPointF& at) const = 0;

    void setNames(const QString& name, const QString& x, const QString& y);
    const QString& xName() const { return x_name_; }
    const QString& yName() const { return y_name_; }
    const QString& emptyText() const { return empty_text_; }
    bool isLogX() const { return plot_->xAxis->scaleType() == QCPAxis::stLogarithmic; }
    const std::optional<std::pair<double, double>>& fullYRange() const { return full_y_range_; }
    bool isLogY() const { return plot_->yAxis->scaleType() == QCPAxis::stLogarithmic; }
    bool autoscalesX() const { return autoscale_x_; }
    /// Forgets that a key is hidden; otherwise a new curve with that key would be hidden.
    void resetVisibility(const QString& key) { hidden_.erase(key); }
    void markDirty();
    /// Redraws at once, for changes that follow a slider.
    void redraw();
    PlotLegend& legend() const { return legend_; }
    CurveLetters& letters() const { return *letters_; }

    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    /// Mouse gesture between press and release.
    enum class Gesture { none, box, move };

    QSharedPointer<QCPAxisTicker> linearTicker(const QCPAxis* axis) const;
    Canvas screenCanvas() const;
    void draw(const Canvas& canvas) const;
    void fitAxes(const Canvas& canvas) const;
    void applyTheme(const Canvas& canvas) const;
    void nameAxes(const Canvas& canvas) const;
    void showEmptyReason(const Canvas& canvas) const;
    void connectMouse();
    void onPress(QMouseEvent* event);
    void onMove(QMouseEvent* event);
    void onRelease(QMouseEvent* event);
    bool isOnLegend(const QPoint& at) const;
    void onLegendClick(QCPAbstractLegendItem* item, bool alone);
    void zoomInto(const QRect& box);
    /// Maps the ends of the visible ranges, in pixels.
    /// @param at  a point over one axis changes only that axis
    void changeRanges(const QPointF& at, const std::function<QPointF(const QPointF&)>& map);
    void zoom(double factor, const QPointF& about);
    void move(const QPointF& at, const QPointF& by);
    void reset();
    bool pressKey(const QKeyEvent& key);
    void moveCrosshair(int direction);
    void emitReadout(const std::optional<Readout>& readout);
    void redrawOverlay();

    QString name_, x_name_, y_name_, empty_text_;
    QCustomPlot* plot_;
    QCPItemStraightLine* crosshair_;
    QCPItemRect* focus_frame_;
    QCPItemText* empty_label_;
    CurveLetters* letters_;
    mutable PlotLegend legend_;
    QTimer timer_;
    std::set<QString> hidden_;
    std::function<void(QMenu&)> extra_menu_entries_;
    bool x_named_ = true, y_named_ = true;
    bool is_x_whole_ = false;
    bool autoscale_x_ = true, autoscale_y_ = true;  ///< whether a range covers all points and grows with them
    std::optional<std::pair<double, double>> full_y_range_;
    std::optional<double> hovered_;
    Gesture gesture_ = Gesture::none;
    QPointF pressed_at_, moved_to_;
    bool dirty_ = true;
};

}  // namespace roper
