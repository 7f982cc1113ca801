#pragma once

#include <qcustomplot.h>

#include <QWidget>
#include <map>
#include <optional>
#include <vector>

#include "ui/charts/curve_letters.h"
#include "ui/charts/figure.h"
#include "ui/charts/plot_legend.h"
#include "ui/theme/zoom.h"

namespace roper {

/// Curves of computed numbers over one x axis. The wheel zooms, dragging moves, a double click shows all.
class CurveChart : public QWidget, public Figure {
    Q_OBJECT

  public:
    struct Curve {
        QString key;    ///< name in the exported numbers
        QString label;  ///< name in the legend
        QColor color;
        QVector<double> x, y;
        bool points = false;                  ///< marks at each point
        bool strong = false;                  ///< drawn bold
        QString formula;                      ///< in the readout; may be empty
        QVector<double> low = {}, high = {};  ///< edges of a band about the curve; empty where it has none
        bool in_legend = true;
        int dash = 0;         ///< as in `dashOf`
        QString letter = {};  ///< on the curve and before its label, where dashes are too few
        /// Where many points share a pixel, their range is filled, rather than drawn over itself as a line.
        bool envelope = false;
    };
    struct Mark {
        double at = 0;
        QString label;
        bool across = false;  ///< a horizontal line at y = at; otherwise vertical at x = at
    };

    /// @param name   of the exported file
    /// @param title  what the chart shows, in the legend's place of honour and in the menu
    CurveChart(const QString& name, const QString& x, const QString& y, QWidget* parent);

    void setCurves(const std::vector<Curve>& curves, const std::vector<Mark>& marks);
    /// One line above the chart: what it shows.
    void setTitle(const QString& title);
    void setAxisNames(const QString& x, const QString& y);
    void setLog(bool x, bool y);
    /// Corner of the legend, such as Qt::AlignTop | Qt::AlignLeft.
    void setLegendCorner(Qt::Alignment corner) {
        plot_->axisRect()->insetLayout()->setInsetAlignment(0, corner);
    }
    /// Below the axes, in columns, it covers no curve, however many there are.
    void setLegendBelow() { legend_place_ = PlotLegend::Place::below; }
    /// An x that the pointer is on, perhaps in another picture.
    void setPointed(std::optional<double> x);
    void setYFloor(std::optional<double> floor) { y_floor_ = floor; }
    /// The y axis shows nothing beyond these, whatever a band does.
    void setYLimits(std::optional<std::pair<double, double>> limits) { y_limits_ = limits; }
    void setCaption(const QString& caption) { caption_ = caption; }
    /// What a chart without curves says.
    void setEmptyText(const QString& text);
    const std::vector<Curve>& curves() const { return curves_; }
    QCustomPlot& plot() { return *plot_; }

    QString figureName() const override { return name_; }
    QSize figureSize() const override {
        constexpr QSize kUnseen{720, 360};  // behind a tab that was never opened
        return testAttribute(Qt::WA_Resized) && !size().isEmpty() ? size() / Zoom::instance().factor()
                                                                  : kUnseen;
    }
    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override {
        paintWithLegend(hasLegend(), painter, area, theme);
    }
    bool hasLegend() const override { return curves_.size() > 1; }
    void paintWithLegend(bool legend, QPainter& painter, const QRectF& area,
                         const Theme& theme) const override;
    QString figureCsv() const override;
    /// With the names of curves that have letters, or share a line of the legend.
    QString figureCaption() const override;

  signals:
    /// The numbers of all curves at the pointer's x; empty when it has left.
    void pointed(const QString& readout);
    /// The x of the point that is told.
    void xPointed(double x);
    /// The x of a click.
    void clicked(double x);

  protected:
    void changeEvent(QEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    /// @param width  of the picture, for texts that must be broken
    void applyTheme(const Theme& theme, const QFont& font, double width) const;
    void fillLegend(bool shown, const Theme& theme, const QFont& font, QSizeF picture) const;
    void applyOwnTheme() const;
    void showEmptyText();
    /// Ranges that show all curves. @param height  of the whole chart, in pixels of the font's size
    void fitAxes(const QFont& font, double height, bool legend) const;
    void fitOwnAxes() const { fitAxes(font(), height(), hasLegend()); }
    void refit();
    /// Extra height above the curves for the legend, relative to their range.
    double roomForLegend(const QFont& font, double height) const;
    /// Puts the labels of marks inside the axes, beside the legend and one another, and off the curves where
    /// there is room. One that has no place is left out whole: a number without its first digit would be
    /// another number.
    void placeMarkLabels() const;
    /// How many parts of curves run through a box of the plot, in pixels.
    int partsOfCurvesIn(const QRectF& box) const;
    void remakeGraphs();
    void findCoincidingCurves();
    /// How many later curves are the same as this one.
    int countOfSame(std::size_t curve) const;
    /// Where many coincide, the first has a line that stands for all.
    bool hasLegendLine(std::size_t curve) const;
    QString nameInLegend(std::size_t curve) const;
    /// Gives the plot the points that can be told apart in the shown range.
    void fillGraphs();
    void fillEnvelope(std::size_t index);
    void onMove(QMouseEvent* event);

    /// From so many curves on that are the same as one, they share its line of the legend.
    static constexpr int kManyTheSame = 2;

    QString name_, x_name_, y_name_, caption_;
    QCustomPlot* plot_;
    QCPItemStraightLine* crosshair_;
    QCPItemText* empty_label_;
    CurveLetters* letters_;
    mutable PlotLegend legend_;
    PlotLegend::Place legend_place_ = PlotLegend::Place::inside;
    std::vector<Curve> curves_;
    /// For each curve, the first one before it that has the same numbers; empty where none has.
    std::vector<std::optional<std::size_t>> same_as_;
    std::map<std::size_t, std::pair<QCPGraph*, QCPGraph*>> bands_;  ///< upper and lower edge, by curve
    QCPTextElement* title_ = nullptr;
    QString title_text_, empty_text_;
    std::vector<Mark> marks_;
    std::vector<QCPItemStraightLine*> mark_lines_;
    std::vector<QCPItemText*> mark_texts_;
    std::optional<double> y_floor_;
    std::optional<std::pair<double, double>> y_limits_;
    bool log_x_ = false, log_y_ = false;
    bool zoomed_ = false;           ///< ranges were set by hand
    mutable bool fitting_ = false;  ///< ranges are being set by us
    std::optional<double> pointed_;
};

}  // namespace roper
