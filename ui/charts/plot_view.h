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

/// Curves over one x axis: what live and computed curves share. It owns the axes, the legend, the crosshair
/// with its readout, the letters on curves, what an empty chart says, the gestures and the exported picture.
///
/// The wheel zooms at the pointer, dragging zooms into a box, or into a stretch of x where the box is flat;
/// dragging with Shift or the middle button moves, a double click shows all again. Over the numbers of an
/// axis the wheel and moving change that axis alone. By keys: + − zoom, Ctrl with arrows moves, 0 shows all,
/// Left and Right move the crosshair. A click in the legend hides a curve or shows it again, a double click
/// shows it alone.
///
/// A change marks the chart, which is drawn at most once in 33 ms.
class PlotView : public QWidget, public Figure {
    Q_OBJECT

  public:
    QCustomPlot& plot() const { return *plot_; }

    void setLog(bool x, bool y);
    /// Both axes show all points, and keep up with new ones, until somebody zooms or moves.
    void follow();
    bool isFollowing() const { return follow_x_ && follow_y_; }
    /// A stretch of x, as a chart beside it shows it, and all values there.
    void showStretch(double from, double to);

    /// Hides a curve, or all of one key.
    void setShown(const QString& key, bool shown);
    bool isShown(const QString& key) const { return hidden_.count(key) == 0; }

    /// An x that the pointer is on, perhaps in another picture.
    void setPointed(std::optional<double> x);
    /// What an empty chart says.
    void setEmptyText(const QString& text);
    /// Whether the axes are named on the screen; in exported pictures they always are.
    void setNamesShown(bool x, bool y);
    /// Adds to the menu behind a right-click.
    void setMenuExtras(const std::function<void(QMenu&)>& extras) { menu_extras_ = extras; }
    /// Draws now if anything is new; tests and exports need not wait for the timer.
    void redrawNow();

    QString figureName() const override { return name_; }
    QSize figureSize() const override;
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(hasLegend(), painter, area, theme);
    }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;

  signals:
    /// The numbers at the crosshair; empty when the pointer has left.
    void pointed(const QString& readout);
    /// The x that these are of.
    void xPointed(double x);
    /// The x of a click.
    void clicked(double x);
    /// A curve was hidden or shown by its entry of the legend.
    void shownChanged(const QString& key, bool shown);
    /// A person zoomed or moved along x, or asked for everything again.
    void stretchChosen(double from, double to);
    void followed();

  protected:
    /// @param name  of the exported file
    PlotView(const QString& name, const QString& x, const QString& y, QWidget* parent);

    /// What the chart is drawn for: the screen, or a picture that is exported.
    struct Canvas {
        Theme theme;
        QFont font;
        QSizeF size;  ///< in pixels of the font's size
        bool legend;
        bool exported;
    };

    /// Drawing, in this order: sizes and colours; legend and letters; the ranges of the axes that follow; the
    /// points that can be told apart in these ranges.
    virtual void applyLook(const Canvas& canvas) const = 0;
    virtual void fillLegend(const Canvas& canvas) const = 0;
    virtual void fitX() const = 0;
    virtual void fitY(const Canvas& canvas) const = 0;
    virtual void fillGraphs(const Canvas& canvas) const = 0;

    /// The font of axes and legend.
    virtual QFont axisFont(const QFont& font) const { return font; }
    virtual bool showsLegend() const { return hasLegend(); }
    /// Why there are no curves; empty where there are some.
    virtual QString whyEmpty() const = 0;
    /// Each curve once, whether it is shown or not.
    virtual std::vector<const QCPGraph*> curveGraphs() const = 0;
    virtual QStringList keys() const = 0;
    /// Of the curves that an entry of the legend stands for.
    virtual QStringList keysOf(const QCPAbstractPlottable* entry) const = 0;
    /// Whether a value is shown in a part of the plane.
    virtual bool anyValueIn(const QCPRange& xs, const QCPRange& ys) const = 0;
    struct Readout {
        double x;  ///< where the crosshair stands
        QString text;
    };
    /// What is read at a place inside the axes, in pixels.
    virtual std::optional<Readout> readAt(const QPointF& at) const = 0;

    void setNames(const QString& name, const QString& x, const QString& y);
    const QString& xName() const { return x_name_; }
    const QString& yName() const { return y_name_; }
    const QString& emptyText() const { return empty_text_; }
    bool isLogX() const { return plot_->xAxis->scaleType() == QCPAxis::stLogarithmic; }
    bool isLogY() const { return plot_->yAxis->scaleType() == QCPAxis::stLogarithmic; }
    bool followsX() const { return follow_x_; }
    /// A key that is gone would hide what comes back under it.
    void forget(const QString& key) { hidden_.erase(key); }
    void markDirty();
    /// At once, for what follows a slider.
    void redraw();
    PlotLegend& legend() const { return legend_; }
    CurveLetters& letters() const { return *letters_; }

    bool eventFilter(QObject* watched, QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

  private:
    /// What the mouse does between press and release.
    enum class Gesture { none, box, move };

    Canvas ownCanvas() const;
    void draw(const Canvas& canvas) const;
    void fitAxes(const Canvas& canvas) const;
    void applyTheme(const Canvas& canvas) const;
    void nameAxes(const Canvas& canvas) const;
    void showWhyEmpty(const Canvas& canvas) const;
    void connectMouse();
    void onPress(QMouseEvent* event);
    void onMove(QMouseEvent* event);
    void onRelease(QMouseEvent* event);
    bool isOnLegend(const QPoint& at) const;
    void onLegendClick(QCPAbstractLegendItem* item, bool alone);
    void zoomInto(const QRect& box);
    /// Maps the ends of the shown ranges, in pixels.
    /// @param at  a place over which one axis alone is meant
    void changeRanges(const QPointF& at, const std::function<QPointF(const QPointF&)>& map);
    void zoom(double factor, const QPointF& about);
    void move(const QPointF& at, const QPointF& by);
    void reset();
    bool pressKey(const QKeyEvent& key);
    void moveCrosshair(int direction);
    void tell(const std::optional<Readout>& readout);
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
    std::function<void(QMenu&)> menu_extras_;
    bool x_named_ = true, y_named_ = true;
    bool follow_x_ = true, follow_y_ = true;  ///< whether a range is that of all points, and grows with them
    std::optional<double> pointed_;
    Gesture gesture_ = Gesture::none;
    QPointF pressed_at_, moved_to_;
    bool dirty_ = true;
};

}  // namespace roper
