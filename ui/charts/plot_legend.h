#pragma once

#include <qcustomplot.h>

#include <vector>

namespace roper {

/// What a plot's legend lists, and where: in a corner inside the axes, one entry below the other, or below
/// the axes in columns, where it covers no curve.
class PlotLegend {
  public:
    struct Entry {
        QCPGraph* graph;
        QString name;
        QColor text_color;
        QString letter = {};  ///< before the name, which is cut without it
        bool operator==(const Entry&) const = default;
    };

    enum class Place { hidden, inside, below };

    /// Of the plot's own legend, which lists from now on what it is filled with alone.
    explicit PlotLegend(QCustomPlot& plot);

    /// Below the axes, names that are too wide are cut where they tell least; entries for which there is no
    /// room within 0.45 of the picture's height are left out, and the last line says how many.
    /// @param picture  in pixels of the font's size
    void fill(const std::vector<Entry>& entries, Place place, const QFont& font, QSizeF picture);

    /// Whether it was filled to stand below the axes.
    bool isBelow() const { return below_; }
    /// How high it is below the axes, in pixels; 0 where it is inside them.
    double height() const { return height_; }
    /// Moves into the corner inside the axes that has the least of the curves behind it. It stays where it is
    /// unless another is much freer: a legend that jumps while curves grow cannot be read. To be called when
    /// the plot is laid out. @returns whether it has moved
    bool keepOff(const std::vector<const QCPGraph*>& curves);

  private:
    struct Columns {
        int count = 1, rows = 1;
        std::size_t shown = 0;  ///< entries
        double name_width = 0;  ///< pixels
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
    int left_out_ = 0;                                      ///< entries that had no room
    Qt::Alignment corner_ = Qt::AlignTop | Qt::AlignRight;  ///< inside, where it stood before it went below
};

}  // namespace roper
