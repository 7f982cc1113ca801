#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ui/charts/plot_view.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A chart of computed curves.
class CurveChart : public PlotView {
    Q_OBJECT

  public:
    struct Curve {
        QString key;    ///< name in exported data
        QString label;  ///< name in the legend
        QColor color;
        QVector<double> x = {}, y = {};
        bool points = false;                  ///< markers at the points
        bool bold = false;                    ///< bold line
        QString formula = {};                 ///< shown in the readout; may be empty
        QVector<double> low = {}, high = {};  ///< edges of a band around the curve; empty: no band
        bool in_legend = true;
        int dash = 0;               ///< as in `dashOf`
        QString letter_label = {};  ///< on the curve and before its label; empty: none
        /// Where many points share a pixel column, their range is filled instead of drawing the line over
        /// itself.
        bool envelope = false;
        QString hidden_with = {};  ///< key of the curve whose legend entry also hides this one
    };
    /// A dashed line at a value, with a label.
    struct Mark {
        double at = 0;
        QString label = {};
        bool across = false;  ///< horizontal line at y = at; otherwise vertical at x = at
    };

    /// @param name  of the exported file
    /// @param x, y  names of the axes
    CurveChart(const QString& name, const QString& x, const QString& y, QWidget* parent);

    void setCurves(const std::vector<Curve>& curves, const std::vector<Mark>& marks);
    /// One line above the chart that says what it shows.
    void setTitle(const QString& title);
    void setAxisNames(const QString& x, const QString& y) { setNames(figureName(), x, y); }
    /// Corner of the legend, such as Qt::AlignTop | Qt::AlignLeft.
    void setLegendCorner(Qt::Alignment corner) {
        plot().axisRect()->insetLayout()->setInsetAlignment(0, corner);
    }
    /// Puts the legend in columns below the axes, where it covers no curve.
    void setLegendBelow() { legend_position_ = PlotLegend::Place::below; }
    /// The y axis begins at this value or below.
    void setYFloor(std::optional<double> floor) { y_floor_ = floor; }
    /// Limits the y axis, even if a band exceeds the limits. On a linear axis, `setFullYRange` has
    /// precedence.
    void setYLimits(std::optional<std::pair<double, double>> limits) { y_limits_ = limits; }
    void setCaption(const QString& caption) { caption_ = caption; }
    const std::vector<Curve>& curves() const { return curves_; }

    bool hasLegend() const override { return curves_.size() > 1; }
    QString figureCsv() const override;
    /// Includes the names of curves that have letters or share a legend line.
    QString figureCaption() const override;

  protected:
    void applyStyle(const Canvas& canvas) const override;
    void fillLegend(const Canvas& canvas) const override;
    void fitX() const override;
    void fitY(const Canvas& canvas) const override;
    void fillGraphs(const Canvas& canvas) const override;
    QFont axisFont(const QFont& font) const override { return smallFont(font); }
    QString emptyReason() const override { return curves_.empty() ? emptyText() : QString(); }
    std::vector<const QCPGraph*> curveGraphs() const override;
    QStringList keys() const override;
    QStringList keysOf(const QCPAbstractPlottable* entry) const override;
    bool hasValueIn(const QCPRange& xs, const QCPRange& ys) const override;
    std::optional<Readout> readAt(const QPointF& at) const override;

  private:
    QCPGraph* graphOf(std::size_t curve) const { return plot().graph(static_cast<int>(curve)); }
    void applyMarkLook(const Theme& theme, const QFont& font) const;
    /// Whether a point can be drawn on these axes.
    bool isDrawn(const Curve& curve, qsizetype i) const;
    QString readoutAt(double x, double y_px) const;
    /// Extra height above the curves for the legend, relative to their range.
    double legendHeadroom(const Canvas& canvas) const;
    /// Places the labels of marks inside the axes, clear of the legend and each other, and off the curves if
    /// possible. A label without room is omitted rather than clipped: a number without its first digit would
    /// be wrong.
    void placeMarkLabels() const;
    /// Number of curve segments that cross a box of the plot, in pixels.
    int curveSegmentsIn(const QRectF& box) const;
    void rebuildGraphs();
    void findCoincidingCurves();
    /// Number of later curves that coincide with this one.
    int coincidingCount(std::size_t curve) const;
    /// Of many coinciding curves, only the first has a legend line.
    bool hasLegendLine(std::size_t curve) const;
    QString nameInLegend(std::size_t curve) const;
    int pixelColumns(const Canvas& canvas) const;
    void fillEnvelope(std::size_t index, int columns) const;

    /// Minimum number of later curves coinciding with one for them to share its legend line.
    static constexpr int kMinCoinciding = 2;

    QString caption_;
    PlotLegend::Place legend_position_ = PlotLegend::Place::inside;
    std::vector<Curve> curves_;
    /// For each curve, the first earlier curve with the same numbers; empty if there is none.
    std::vector<std::optional<std::size_t>> coincides_with_;
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
