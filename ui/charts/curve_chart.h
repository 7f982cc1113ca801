#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ui/charts/plot_view.h"
#include "ui/theme/type_scale.h"

namespace roper {

/// Curves of computed numbers.
class CurveChart : public PlotView {
    Q_OBJECT

  public:
    struct Curve {
        QString key;    ///< name in the exported numbers
        QString label;  ///< name in the legend
        QColor color;
        QVector<double> x = {}, y = {};
        bool points = false;                  ///< marks at each point
        bool strong = false;                  ///< drawn bold
        QString formula = {};                 ///< in the readout; may be empty
        QVector<double> low = {}, high = {};  ///< edges of a band about the curve; empty where it has none
        bool in_legend = true;
        int dash = 0;         ///< as in `dashOf`
        QString letter = {};  ///< on the curve and before its label, where dashes are too few
        /// Where many points share a pixel, their range is filled, rather than drawn over itself as a line.
        bool envelope = false;
        QString hidden_with = {};  ///< key of the curve whose entry of the legend hides this one, too
    };
    struct Mark {
        double at = 0;
        QString label = {};
        bool across = false;  ///< a horizontal line at y = at; otherwise vertical at x = at
    };

    /// @param name   of the exported file
    /// @param title  what the chart shows, in the legend's place of honour and in the menu
    CurveChart(const QString& name, const QString& x, const QString& y, QWidget* parent);

    void setCurves(const std::vector<Curve>& curves, const std::vector<Mark>& marks);
    /// One line above the chart: what it shows.
    void setTitle(const QString& title);
    void setAxisNames(const QString& x, const QString& y) { setNames(figureName(), x, y); }
    /// Corner of the legend, such as Qt::AlignTop | Qt::AlignLeft.
    void setLegendCorner(Qt::Alignment corner) {
        plot().axisRect()->insetLayout()->setInsetAlignment(0, corner);
    }
    /// Below the axes, in columns, it covers no curve, however many there are.
    void setLegendBelow() { legend_place_ = PlotLegend::Place::below; }
    void setYFloor(std::optional<double> floor) { y_floor_ = floor; }
    /// The y axis shows nothing beyond these, whatever a band does.
    void setYLimits(std::optional<std::pair<double, double>> limits) { y_limits_ = limits; }
    void setCaption(const QString& caption) { caption_ = caption; }
    const std::vector<Curve>& curves() const { return curves_; }

    bool hasLegend() const override { return curves_.size() > 1; }
    QString figureCsv() const override;
    /// With the names of curves that have letters, or share a line of the legend.
    QString figureCaption() const override;

  protected:
    void applyLook(const Canvas& canvas) const override;
    void fillLegend(const Canvas& canvas) const override;
    void fitX() const override;
    void fitY(const Canvas& canvas) const override;
    void fillGraphs(const Canvas& canvas) const override;
    QFont axisFont(const QFont& font) const override { return smallFont(font); }
    QString whyEmpty() const override { return curves_.empty() ? emptyText() : QString(); }
    std::vector<const QCPGraph*> curveGraphs() const override;
    QStringList keys() const override;
    QStringList keysOf(const QCPAbstractPlottable* entry) const override;
    bool anyValueIn(const QCPRange& xs, const QCPRange& ys) const override;
    std::optional<Readout> readAt(const QPointF& at) const override;

  private:
    QCPGraph* graphOf(std::size_t curve) const { return plot().graph(static_cast<int>(curve)); }
    void applyMarkLook(const Theme& theme, const QFont& font) const;
    /// Whether a point has a place on these axes.
    bool isDrawn(const Curve& curve, qsizetype i) const;
    QString readoutAt(double x, double y_px) const;
    /// Extra height above the curves for the legend, relative to their range.
    double roomForLegend(const Canvas& canvas) const;
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
    int pixelColumns(const Canvas& canvas) const;
    void fillEnvelope(std::size_t index, int columns) const;

    /// From so many curves on that are the same as one, they share its line of the legend.
    static constexpr int kManyTheSame = 2;

    QString caption_;
    PlotLegend::Place legend_place_ = PlotLegend::Place::inside;
    std::vector<Curve> curves_;
    /// For each curve, the first one before it that has the same numbers; empty where none has.
    std::vector<std::optional<std::size_t>> same_as_;
    std::map<std::size_t, std::pair<QCPGraph*, QCPGraph*>> bands_;  ///< upper and lower edge, by curve
    QCPTextElement* title_ = nullptr;
    QString title_text_;
    std::vector<Mark> marks_;
    std::vector<QCPItemStraightLine*> mark_lines_;
    std::vector<QCPItemText*> mark_texts_;
    std::optional<double> y_floor_;
    std::optional<std::pair<double, double>> y_limits_;
};

}  // namespace roper
