#pragma once

#include <Eigen/Core>
#include <QStringList>
#include <cmath>
#include <memory>
#include <optional>

#include "ui/charts/figure_view.h"
#include "ui/charts/tile_pyramid.h"

namespace roper {

/// A matrix as colored cells, up to 4,096 × 4,096. The wheel and + − zoom, dragging moves, a double click or
/// 0 shows all. Signed values use a diverging scale around zero; others, such as weights, a sequential one
/// from zero. Whole numbers from 0 that stand for categories have a color each. Cells with enough room show
/// their numbers. A single column on a sequential scale is drawn as bars, which are easier to read than
/// colors.
class HeatMapView : public FigureView {
    Q_OBJECT

  public:
    enum class Scale { diverging, sequential, categorical };

    struct Map {
        std::shared_ptr<const Eigen::MatrixXd> values;  ///< [rows × columns]
        std::shared_ptr<TilePyramid> pyramid;           ///< of these values, by `makePyramid`
        Scale scale = Scale::diverging;
        double limit = 1;                  ///< the color scale ends at ± limit, or at 0 and limit
        bool has_whole_numbers = false;    ///< numbers in cells have no decimals
        bool lower_triangle_only = false;  ///< entries right of the diagonal do not exist
        bool has_gaps = false;             ///< NaN entries do not exist
        QString gap_name = {};             ///< of such entries in the legend; empty: "none"
        bool shows_distances = false;  ///< below each column, its distance from the marked row: row − column
        QString row_name, column_name, value_name;
        QStringList row_labels, column_labels;  ///< empty: numbers
        bool row_labels_are_names =
            false;  ///< each label names its row, so some may be omitted, unlike tokens of a text

        /// Sets values and pyramid; scale, limit, `lower_triangle_only` and `has_gaps` must be set before.
        void setValues(Eigen::MatrixXd matrix) {
            values = std::make_shared<Eigen::MatrixXd>(std::move(matrix));
            makePyramid();
        }
        /// May be called outside the GUI thread: for a large map it is most of the work.
        void makePyramid(TilePyramid::Merging merging = TilePyramid::Merging::largest);
    };

    HeatMapView(const QString& name, QWidget* parent);

    /// The color limit that covers all values of a matrix; never 0.
    static double limitOf(const Eigen::MatrixXd& values, bool lower_triangle_only);

    void setMap(Map map);
    /// What cells that share a pixel show: the value of largest magnitude (default) or the mean.
    void setMerging(TilePyramid::Merging merging);
    const Map& map() const { return map_; }
    /// The marked cell, or −1.
    void setMarked(int row, int column);
    /// The row, column or both under the pointer, possibly in another figure.
    void setHovered(std::optional<int> row, std::optional<int> column);
    void setCaption(const QString& caption) { caption_ = caption; }
    /// One line above the map that says what it shows.
    void setTitle(const QString& title) { setAndUpdate(title_, title); }

    /// The visible columns and rows, in cells.
    QRectF visibleCells() const { return shown_; }
    void showCells(const QRectF& cells);
    void showAll();

    void paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const override;
    QString figureCsv() const override;
    void writeCsv(const WriteBytes& write) const override;
    QString figureCaption() const override { return caption_; }
    QSize minFigureSize() const override { return {220, 160}; }
    QSize minScreenSize() const override { return {220, 130}; }

    /// Rectangle of a cell on the canvas.
    QRectF cellRect(int row, int column) const;

    /// Column and row of the cell at a point of the canvas; −1 where there is none.
    QPoint cellAt(const QPointF& at) const;

  signals:
    void cellHovered(int row, int column);
    void cellClicked(int row, int column);

  protected:
    void paintHovered(QPainter& painter, const Theme& theme) const override;
    void addToMenu(QMenu& menu) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent*) override { showAll(); }
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

    /// The part of the figure for the map with its labels.
    virtual QRectF mapArea(const QRectF& area) const { return area; }

  private:
    /// Layout of the cells in an area.
    struct Frame {
        QRectF box;    ///< of the visible cells, in pixels
        QRectF cells;  ///< visible columns and rows
        double cell_width, cell_height;

        double x(double column) const { return box.left() + (column - cells.left()) * cell_width; }
        double y(double row) const { return box.top() + (row - cells.top()) * cell_height; }
    };
    Frame frame(const QRectF& area) const;
    double rightMargin() const;
    bool isOneColumn() const {
        return !isEmpty() && map_.values->cols() == 1 && map_.values->rows() > 1 &&
               map_.scale == Scale::sequential;
    }
    /// Whether an entry exists.
    bool hasEntry(int row, int column) const {
        return std::isfinite((*map_.values)(row, column)) && !(map_.lower_triangle_only && column > row);
    }
    ColorTable colorsIn(const Theme& theme) const;
    QString cellText(double value) const;
    void paintNumbers(QPainter& painter, const Frame& frame, const ColorTable& colors) const;
    void paintBars(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void paintBarAxis(QPainter& painter, const Frame& frame, const Theme& theme) const;
    double barX(const Frame& frame, double value, double number_width) const;
    bool isEmpty() const { return !map_.values || map_.values->size() == 0; }
    void paintCells(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void paintCellsAsShapes(QPainter& painter, const Frame& frame, const ColorTable& colors) const;
    void paintTiles(QPainter& painter, const Frame& frame, const ColorTable& colors) const;
    bool labelsAreCharacters() const;
    void paintAxes(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void paintRowLabels(QPainter& painter, const Frame& at, bool tiny) const;
    void paintColumnLabels(QPainter& painter, const Frame& at, bool tiny) const;
    void paintDistances(QPainter& painter, const Frame& at) const;
    void paintColorBar(QPainter& painter, const Frame& frame, const Theme& theme) const;
    void zoom(double factor, const QPointF& about);

    QString caption_, title_;
    Map map_;
    TilePyramid::Merging merging_ = TilePyramid::Merging::largest;
    QRectF shown_{0, 0, 1, 1};
    int marked_row_ = -1, marked_column_ = -1;
    std::optional<int> hovered_row_, hovered_column_;
    QPointF press_;
    QRectF press_shown_;
    bool pressed_ = false, moved_ = false;
    mutable QColor tiles_background_;  ///< theme color of the cached tiles
};

}  // namespace roper
