#include "ui/charts/heat_map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "ui/charts/csv_text.h"

namespace roper {
namespace {

constexpr double kMinCells = 3;  // maximum zoom

}  // namespace

HeatMapView::HeatMapView(const QString& name, QWidget* parent) : FigureView(parent, name) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::CrossCursor);
}

double HeatMapView::limitOf(const Eigen::MatrixXd& values, bool lower_triangle_only) {
    double largest = 0;
    for (Eigen::Index column = 0; column < values.cols(); ++column) {
        const Eigen::Index first = lower_triangle_only ? std::min(column, values.rows()) : 0;
        for (Eigen::Index row = first; row < values.rows(); ++row)
            if (std::isfinite(values(row, column)))
                largest = std::max(largest, std::abs(values(row, column)));
    }
    return largest > 0 ? largest : 1.0;
}

void HeatMapView::Map::makePyramid(TilePyramid::Merging merging) {
    const auto gaps = has_gaps ? TilePyramid::NotANumber::absent : TilePyramid::NotANumber::shown;
    pyramid = std::make_shared<TilePyramid>(
        *values, lower_triangle_only, scale == Scale::diverging ? -limit : 0.0, limit, gaps,
        scale == Scale::categorical ? TilePyramid::Merging::first : merging);
}

void HeatMapView::setMap(Map map) {
    const bool same_shape = !isEmpty() && map.values && map.values->rows() == map_.values->rows() &&
                            map.values->cols() == map_.values->cols();
    map_ = std::move(map);
    if (merging_ != TilePyramid::Merging::largest && !isEmpty()) map_.makePyramid(merging_);
    if (!same_shape) showAll();
    update();
}

void HeatMapView::setMerging(TilePyramid::Merging merging) {
    if (merging == merging_) return;
    merging_ = merging;
    if (!isEmpty()) map_.makePyramid(merging);
    update();
}

void HeatMapView::addToMenu(QMenu& menu) {
    if (map_.scale == Scale::categorical) return;
    QAction* mean = menu.addAction(tr("Show the mean of cells that share a pixel"));
    mean->setToolTip(tr("Otherwise the one of largest magnitude"));
    mean->setCheckable(true);
    mean->setChecked(merging_ == TilePyramid::Merging::mean);
    connect(mean, &QAction::toggled, this,
            [this](bool on) { setMerging(on ? TilePyramid::Merging::mean : TilePyramid::Merging::largest); });
}

void HeatMapView::setMarked(int row, int column) {
    if (row == marked_row_ && column == marked_column_) return;
    marked_row_ = row;
    marked_column_ = column;
    update();
}

void HeatMapView::showAll() {
    if (!isEmpty())
        shown_ = {0, 0, static_cast<double>(map_.values->cols()), static_cast<double>(map_.values->rows())};
    update();
}

void HeatMapView::showCells(const QRectF& cells) {
    const bool finite = std::isfinite(cells.x()) && std::isfinite(cells.y()) &&
                        std::isfinite(cells.width()) && std::isfinite(cells.height());
    if (isEmpty() || !finite) return;
    const auto columns = static_cast<double>(map_.values->cols()),
               rows = static_cast<double>(map_.values->rows());
    const double width = std::clamp(cells.width(), std::min(kMinCells, columns), columns);
    const double height = std::clamp(cells.height(), std::min(kMinCells, rows), rows);
    shown_ = {std::clamp(cells.left(), 0.0, columns - width), std::clamp(cells.top(), 0.0, rows - height),
              width, height};
    update();
}

QRectF HeatMapView::cellRect(int row, int column) const {
    const Frame at = frame(canvas());
    return {at.x(column), at.y(row), at.cell_width, at.cell_height};
}

void HeatMapView::setHovered(std::optional<int> row, std::optional<int> column) {
    if (row == hovered_row_ && column == hovered_column_) return;
    hovered_row_ = row;
    hovered_column_ = column;
    update();
}

void HeatMapView::paintHovered(QPainter& painter, const Theme& theme) const {
    if (isEmpty()) return;
    const Frame at = frame(canvas());
    painter.setClipRect(at.box);
    // Minimum thickness, for very small cells.
    constexpr double kMinMarkSize = 2;
    if (hovered_row_)
        paintFrame(painter,
                   QRectF(at.box.left() - 2, at.y(*hovered_row_), at.box.width() + 4,
                          std::max(kMinMarkSize, at.cell_height)),
                   theme);
    if (hovered_column_)
        paintFrame(painter,
                   QRectF(at.x(*hovered_column_), at.box.top() - 2, std::max(kMinMarkSize, at.cell_width),
                          at.box.height() + 4),
                   theme);
}

/// x = column, y = row; −1 outside the map.
QPoint HeatMapView::cellAt(const QPointF& point) const {
    if (isEmpty()) return {-1, -1};
    const Frame at = frame(canvas());
    if (!at.box.contains(point)) return {-1, -1};
    const int column = static_cast<int>(at.cells.left() + (point.x() - at.box.left()) / at.cell_width);
    const int row = static_cast<int>(at.cells.top() + (point.y() - at.box.top()) / at.cell_height);
    return {std::min(column, static_cast<int>(map_.values->cols()) - 1),
            std::min(row, static_cast<int>(map_.values->rows()) - 1)};
}

void HeatMapView::zoom(double factor, const QPointF& about) {
    if (isEmpty()) return;
    const Frame at = frame(canvas());
    const QPointF cell(at.cells.left() + (about.x() - at.box.left()) / at.cell_width,
                       at.cells.top() + (about.y() - at.box.top()) / at.cell_height);
    QRectF next(cell - (cell - shown_.topLeft()) * factor, shown_.size() * factor);
    showCells(next);
}

void HeatMapView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    pressed_ = true;
    moved_ = false;
    press_ = event->position();
    press_shown_ = shown_;
}

void HeatMapView::mouseMoveEvent(QMouseEvent* event) {
    if (pressed_ && !isEmpty()) {
        const QPointF by = event->position() - press_;
        moved_ = moved_ || by.manhattanLength() > 4;
        if (moved_) {
            const Frame at = frame(canvas());
            showCells(press_shown_.translated(-by.x() / at.cell_width, -by.y() / at.cell_height));
        }
    }
    const QPoint cell = cellAt(event->position());
    if (cell.x() < 0 || (map_.lower_triangle_only && cell.x() > cell.y())) return emit hovered({});
    emit cellHovered(cell.y(), cell.x());
}

void HeatMapView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !pressed_) return;
    pressed_ = false;
    const QPoint cell = cellAt(event->position());
    if (!moved_ && cell.x() >= 0) emit cellClicked(cell.y(), cell.x());
}

void HeatMapView::wheelEvent(QWheelEvent* event) {
    zoom(std::pow(0.85, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
    const QPointF center = frame(canvas()).box.center();
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal) return zoom(0.7, center);
    if (event->key() == Qt::Key_Minus) return zoom(1 / 0.7, center);
    if (event->key() == Qt::Key_0) return showAll();
    FigureView::keyPressEvent(event);
}

QString HeatMapView::figureCsv() const {
    QByteArray bytes;
    writeCsv([&](const QByteArray& part) { bytes += part; });
    return QString::fromUtf8(bytes);
}

/// One line per cell, written in parts: a large map has sixteen million cells.
void HeatMapView::writeCsv(const WriteBytes& write) const {
    constexpr qsizetype kPart = 1 << 20;
    QByteArray part = (columnName(map_.row_name) + ',' + columnName(map_.column_name) + ',' +
                       columnName(map_.value_name) + '\n')
                          .toUtf8();
    for (Eigen::Index row = 0; !isEmpty() && row < map_.values->rows(); ++row) {
        const Eigen::Index last =
            map_.lower_triangle_only ? std::min(row + 1, map_.values->cols()) : map_.values->cols();
        for (Eigen::Index column = 0; column < last; ++column)
            part += QByteArray::number(static_cast<qint64>(row)) + ',' +
                    QByteArray::number(static_cast<qint64>(column)) + ',' +
                    QByteArray::number((*map_.values)(row, column), 'g', 17) + '\n';
        if (part.size() < kPart) continue;
        write(part);
        part.clear();
    }
    write(part);
}

}  // namespace roper
