#pragma once

#include <qcustomplot.h>

#include <vector>

namespace roper {

/// Contents and position of a plot's legend: in a corner inside the axes, one entry below the other, or in
/// columns below the axes, where it covers no curve.
class PlotLegend {
  public:
    struct Entry {
        QCPGraph* graph;
        QString name;
        QColor text_color;
        QString letter_label = {};  ///< before the name, and never cut; may be empty
        bool operator==(const Entry&) const = default;
    };

    enum class Place { hidden, inside, below };

    /// Takes over the plot's own legend.
    explicit PlotLegend(QCustomPlot& plot);

    /// Below the axes, names that are too wide are cut where they are least distinctive; entries that do not
    /// fit within 0.45 of the figure's height are omitted, and the last line gives their number.
    /// @param picture  size of the figure, in the pixels in which `font` is measured
    void fill(const std::vector<Entry>& entries, Place place, const QFont& font, QSizeF picture);

    /// Whether it was last filled for a position below the axes.
    bool isBelow() const { return below_; }
    /// Whether it is shown inside the axes, where it may cover curves.
    bool isInside() const { return plot_->legend->visible() && !below_; }
    /// Height below the axes, in pixels; 0 inside them.
    double height() const { return height_; }
    enum class Move {
        none,
        to_corner,  ///< it has moved to another corner
        below       ///< `fill` will move it below the axes, where it stays until the entries change
    };
    /// Moves to the corner inside the axes that covers the least of the curves, or below the axes if every
    /// corner covers some. It stays in its corner unless another is much better, because a legend that jumps
    /// while curves grow cannot be read. Call it after layout.
    Move avoidCurves(const std::vector<const QCPGraph*>& curves);
    /// Whether every corner covers curves.
    bool isCrowded() const { return crowded_; }
    void setCrowded(bool crowded) { crowded_ = crowded; }

  private:
    struct Columns {
        int rows;           ///< 0: inside the axes, in one column
        std::size_t shown;  ///< number of entries
        double name_width;  ///< pixels
    };
    Columns columnsFor(const QStringList& names, double letters, const QFontMetricsF& metrics,
                       QSizeF picture) const;
    double lineHeight(const QFontMetricsF& metrics) const;
    void move(bool below);
    void refill(const std::vector<QCPGraph*>& graphs, int rows, int left_out);

    QCustomPlot* plot_;
    std::vector<QCPGraph*> filled_;
    int rows_ = 0;
    double height_ = 0;
    bool below_ = false;
    bool crowded_ = false;
    QStringList names_;                                     ///< of the entries
    int omitted_ = 0;                                       ///< number of omitted entries
    Qt::Alignment corner_ = Qt::AlignTop | Qt::AlignRight;  ///< the last corner inside the axes
};

}  // namespace roper
