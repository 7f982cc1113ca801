#include "ui/charts/heat_map_view.h"

#include <QBuffer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPaintEngine>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace roper {
namespace {

constexpr double kLeft = 64, kTop = 34, kRight = 76, kBottom = 10;
constexpr double kBarWidth = 12;
constexpr double kFewestCells = 3;         // as far as one can zoom in
constexpr double kMostShapes = 128 * 128;  // a map of more cells is exported as pixels in a frame of text

QString number(double value) {
    return QString::number(value, 'g', 3).replace('-', QChar(0x2212));
}

/// Steps of 1, 2 or 5 times a power of ten, so that about `most` labels fit.
int labelStep(double cells, double most) {
    int step = 1;
    for (int i = 0; cells / step > std::max(most, 1.0); ++i)
        step = (i % 3 == 1) ? step / 2 * 5 : step * 2;
    return step;
}

}  // namespace

/// How the cells lie in an area.
struct HeatMapView::Frame {
    QRectF box;    ///< of the shown cells, in pixels
    QRectF cells;  ///< shown columns and rows
    double cell_width, cell_height;

    double x(double column) const { return box.left() + (column - cells.left()) * cell_width; }
    double y(double row) const { return box.top() + (row - cells.top()) * cell_height; }
};

HeatMapView::HeatMapView(const QString& name, QWidget* parent) : FigureView(parent), name_(name) {
    setFocusPolicy(Qt::StrongFocus);
    setCursor(Qt::CrossCursor);
}

double HeatMapView::limitOf(const Eigen::MatrixXd& values, bool lower_only) {
    double largest = 0;
    for (Eigen::Index column = 0; column < values.cols(); ++column) {
        const Eigen::Index first = lower_only ? std::min(column, values.rows()) : 0;
        for (Eigen::Index row = first; row < values.rows(); ++row)
            if (std::isfinite(values(row, column)))
                largest = std::max(largest, std::abs(values(row, column)));
    }
    return largest > 0 ? largest : 1.0;
}

std::shared_ptr<TilePyramid> HeatMapView::makePyramid(const Eigen::MatrixXd& values, Scale scale,
                                                      double limit, bool lower_only) {
    return std::make_shared<TilePyramid>(values, lower_only, scale == Scale::diverging ? -limit : 0.0, limit);
}

void HeatMapView::setMap(Map map) {
    const bool same_shape = !isEmpty() && map.values && map.values->rows() == map_.values->rows() &&
                            map.values->cols() == map_.values->cols();
    map_ = std::move(map);
    if (!same_shape) showAll();
    update();
}

void HeatMapView::setMarked(int row, int column) {
    if (row == marked_row_ && column == marked_column_) return;
    marked_row_ = row;
    marked_column_ = column;
    update();
}

void HeatMapView::setEmptyText(const QString& text) {
    empty_text_ = text;
    update();
}

void HeatMapView::showAll() {
    if (!isEmpty())
        shown_ = {0, 0, static_cast<double>(map_.values->cols()), static_cast<double>(map_.values->rows())};
    update();
}

void HeatMapView::showCells(const QRectF& cells) {
    if (isEmpty()) return;
    const auto columns = static_cast<double>(map_.values->cols()),
               rows = static_cast<double>(map_.values->rows());
    const double width = std::clamp(cells.width(), std::min(kFewestCells, columns), columns);
    const double height = std::clamp(cells.height(), std::min(kFewestCells, rows), rows);
    shown_ = {std::clamp(cells.left(), 0.0, columns - width), std::clamp(cells.top(), 0.0, rows - height),
              width, height};
    update();
}

HeatMapView::Frame HeatMapView::frame(const QRectF& area) const {
    Frame frame;
    frame.cells = shown_;
    frame.box = mapArea(area).adjusted(kLeft, kTop, -kRight, -kBottom);
    // Token by token maps keep square cells; others fill their place.
    if (!isEmpty() && map_.values->rows() == map_.values->cols()) {
        const double side =
            std::min(frame.box.width() / shown_.width(), frame.box.height() / shown_.height());
        const QSizeF size(side * shown_.width(), side * shown_.height());
        frame.box = QRectF(QPointF(frame.box.center().x() - size.width() / 2, frame.box.top()), size);
    }
    frame.cell_width = frame.box.width() / shown_.width();
    frame.cell_height = frame.box.height() / shown_.height();
    return frame;
}

void HeatMapView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (isEmpty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(area.adjusted(20, 20, -20, -20), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
        return;
    }
    const Frame at = frame(area);
    QFont small = painter.font();
    small.setPointSizeF(small.pointSizeF() * 0.85);
    painter.setFont(small);
    painter.save();
    painter.setClipRect(at.box);
    paintCells(painter, at, theme);
    if (marked_row_ >= 0) {
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setBrush(Qt::NoBrush);
        const QRectF cell(at.x(marked_column_), at.y(marked_row_), at.cell_width, at.cell_height);
        painter.setPen(QPen(theme.faded(theme.text, 0.55), 1));
        painter.drawRect(QRectF(at.box.left(), cell.top(), at.box.width(), cell.height()));
        painter.setPen(QPen(theme.text, 2));
        painter.drawRect(cell.width() > 5 ? cell : QRectF(cell.center() - QPointF(3, 3), QSizeF(6, 6)));
    }
    painter.restore();
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.frame, 1));
    painter.drawRect(at.box);
    paintAxes(painter, at, theme);
    paintColorBar(painter, at, theme);
}

void HeatMapView::paintCells(QPainter& painter, const Frame& at, const Theme& theme) const {
    const ColorTable colors =
        map_.scale == Scale::diverging ? theme.divergingColors() : theme.sequentialColors();
    const QPaintEngine::Type engine = painter.paintEngine()->type();
    const bool is_vector = engine != QPaintEngine::Raster;
    if (is_vector && at.cells.width() * at.cells.height() <= kMostShapes)
        return paintCellsAsShapes(painter, at, colors);
    if (tiles_background_ != theme.background) map_.pyramid->dropTiles();
    tiles_background_ = theme.background;
    paintTiles(painter, at, colors);
}

/// One rectangle for each run of equal colours in a row.
void HeatMapView::paintCellsAsShapes(QPainter& painter, const Frame& at, const ColorTable& colors) const {
    const TilePyramid& pyramid = *map_.pyramid;
    painter.setRenderHint(QPainter::Antialiasing, false);
    const int last_column = std::min(static_cast<int>(std::ceil(at.cells.right())), pyramid.columns());
    const int last_row = std::min(static_cast<int>(std::ceil(at.cells.bottom())), pyramid.rows());
    for (int row = static_cast<int>(at.cells.top()); row < last_row; ++row) {
        for (int column = static_cast<int>(at.cells.left()); column < last_column;) {
            const int index = pyramid.colorIndex(0, row, column);
            const int first = column;
            while (column < last_column && pyramid.colorIndex(0, row, column) == index)
                ++column;
            if (index < 0) continue;
            // A hair of overlap, so that viewers show no seams between neighbours.
            painter.fillRect(
                QRectF(QPointF(at.x(first), at.y(row)), QPointF(at.x(column) + 0.15, at.y(row + 1) + 0.15)),
                QColor(colors[static_cast<std::size_t>(index)]));
        }
    }
}

/// The finest level whose entries are at least one pixel large.
void HeatMapView::paintTiles(QPainter& painter, const Frame& at, const ColorTable& colors) const {
    TilePyramid& pyramid = *map_.pyramid;
    const double ratio = painter.deviceTransform().m11();
    int level = 0;
    while (level + 1 < pyramid.levels() && std::min(at.cell_width, at.cell_height) * ratio * (1 << level) < 1)
        ++level;
    const double entry = 1 << level, step = entry * TilePyramid::kTile;
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.setRenderHint(QPainter::Antialiasing, false);
    // Whole device pixels, so that tiles meet without seams.
    const auto snapped = [ratio](double value) { return std::round(value * ratio) / ratio; };
    for (int row = static_cast<int>(at.cells.top() / step); row * step < at.cells.bottom(); ++row) {
        for (int column = static_cast<int>(at.cells.left() / step); column * step < at.cells.right();
             ++column) {
            if (row * TilePyramid::kTile >= pyramid.rows(level) ||
                column * TilePyramid::kTile >= pyramid.columns(level))
                continue;
            const QImage& tile = pyramid.tile(level, row, column, colors);
            const double left = column * step, top = row * step;
            painter.drawImage(QRectF(QPointF(snapped(at.x(left)), snapped(at.y(top))),
                                     QPointF(snapped(at.x(left + tile.width() * entry)),
                                             snapped(at.y(top + tile.height() * entry)))),
                              tile, QRectF(tile.rect()));
        }
    }
}

void HeatMapView::paintAxes(QPainter& painter, const Frame& at, const Theme& theme) const {
    painter.setPen(theme.faint_text);
    const QFontMetrics metrics = painter.fontMetrics();
    const int row_step = labelStep(at.cells.height(), at.box.height() / (metrics.height() + 2));
    const auto last_row =
        std::min<int>(static_cast<int>(at.cells.bottom()), static_cast<int>(map_.values->rows()) - 1);
    for (int row = static_cast<int>(std::ceil(at.cells.top() / row_step)) * row_step; row <= last_row;
         row += row_step) {
        const QString text = row < map_.row_labels.size() ? map_.row_labels[row] : QString::number(row);
        const QRectF place(at.box.left() - kLeft + 16, at.y(row + 0.5) - 9, kLeft - 21, 18);
        if (place.center().y() > at.box.bottom() || place.center().y() < at.box.top()) continue;
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter,
                         metrics.elidedText(text, Qt::ElideRight, static_cast<int>(place.width())));
    }
    double widest = metrics.horizontalAdvance(QString::number(static_cast<int>(map_.values->cols())));
    for (const QString& label : map_.column_labels)
        widest = std::max<double>(widest, std::min(metrics.horizontalAdvance(label), 40));
    const int column_step = labelStep(at.cells.width(), at.box.width() / (widest + 6));
    const auto last_column =
        std::min<int>(static_cast<int>(at.cells.right()), static_cast<int>(map_.values->cols()) - 1);
    for (int column = static_cast<int>(std::ceil(at.cells.left() / column_step)) * column_step;
         column <= last_column; column += column_step) {
        const QString text =
            column < map_.column_labels.size() ? map_.column_labels[column] : QString::number(column);
        const double room = std::max(column_step * at.cell_width, 12.0);
        const QRectF place(at.x(column + 0.5) - room / 2, at.box.top() - 18, room, 16);
        if (place.center().x() > at.box.right() || place.center().x() < at.box.left()) continue;
        painter.drawText(place, Qt::AlignCenter,
                         metrics.elidedText(text, Qt::ElideRight, static_cast<int>(room)));
    }
    painter.setPen(theme.text);
    painter.drawText(QRectF(at.box.left(), at.box.top() - 33, at.box.width(), 15), Qt::AlignLeft,
                     map_.column_name + QStringLiteral(" →"));
    painter.save();
    painter.translate(at.box.left() - kLeft + 2, at.box.top());
    painter.rotate(90);
    painter.drawText(QRectF(0, -14, at.box.height(), 15), Qt::AlignLeft | Qt::AlignVCenter,
                     map_.row_name + QStringLiteral(" →"));
    painter.restore();
}

void HeatMapView::paintColorBar(QPainter& painter, const Frame& at, const Theme& theme) const {
    const bool diverging = map_.scale == Scale::diverging;
    const ColorTable colors = diverging ? theme.divergingColors() : theme.sequentialColors();
    const QRectF bar(at.box.right() + 10, at.box.top() + 16, kBarWidth,
                     std::min(160.0, at.box.height() - 18));
    if (bar.height() < 30) return;
    QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
    for (int i = 0; i <= 16; ++i)
        gradient.setColorAt(i / 16.0, QColor(colors[static_cast<std::size_t>(std::min(i * 16, 255))]));
    painter.setPen(QPen(theme.frame, 1));
    painter.setBrush(gradient);
    painter.drawRect(bar);
    painter.setPen(theme.text);
    painter.drawText(QRectF(bar.left(), bar.top() - 18, kRight, 16), Qt::AlignLeft, map_.value_name);
    painter.setPen(theme.faint_text);
    const auto label = [&](double y, const QString& text) {
        painter.drawText(QRectF(bar.right() + 4, y - 8, kRight - kBarWidth - 14, 16),
                         Qt::AlignLeft | Qt::AlignVCenter, text);
    };
    label(bar.top() + 4, number(map_.limit));
    label(bar.bottom() - 4, diverging ? number(-map_.limit) : QStringLiteral("0"));
    if (diverging) label(bar.center().y(), QStringLiteral("0"));
}

QRectF HeatMapView::cellRect(int row, int column) const {
    const Frame at = frame(rect());
    return {at.x(column), at.y(row), at.cell_width, at.cell_height};
}

/// x = column, y = row; −1 outside the map.
QPoint HeatMapView::cellAt(const QPointF& point) const {
    if (isEmpty()) return {-1, -1};
    const Frame at = frame(rect());
    if (!at.box.contains(point)) return {-1, -1};
    const int column = static_cast<int>(at.cells.left() + (point.x() - at.box.left()) / at.cell_width);
    const int row = static_cast<int>(at.cells.top() + (point.y() - at.box.top()) / at.cell_height);
    return {std::min(column, static_cast<int>(map_.values->cols()) - 1),
            std::min(row, static_cast<int>(map_.values->rows()) - 1)};
}

void HeatMapView::zoom(double factor, const QPointF& about) {
    if (isEmpty()) return;
    const Frame at = frame(rect());
    const QPointF place(at.cells.left() + (about.x() - at.box.left()) / at.cell_width,
                        at.cells.top() + (about.y() - at.box.top()) / at.cell_height);
    QRectF next(place - (place - shown_.topLeft()) * factor, shown_.size() * factor);
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
            const Frame at = frame(rect());
            showCells(press_shown_.translated(-by.x() / at.cell_width, -by.y() / at.cell_height));
        }
    }
    const QPoint cell = cellAt(event->position());
    if (cell.x() < 0 || (map_.lower_only && cell.x() > cell.y())) return emit pointed({});
    emit cellPointed(cell.y(), cell.x());
}

void HeatMapView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !pressed_) return;
    pressed_ = false;
    const QPoint cell = cellAt(event->position());
    if (!moved_ && cell.x() >= 0) emit cellClicked(cell.y(), cell.x());
}

void HeatMapView::mouseDoubleClickEvent(QMouseEvent*) {
    showAll();
}

void HeatMapView::wheelEvent(QWheelEvent* event) {
    zoom(std::pow(0.85, event->angleDelta().y() / 120.0), event->position());
    event->accept();
}

void HeatMapView::keyPressEvent(QKeyEvent* event) {
    const QPointF centre = frame(rect()).box.center();
    if (event->key() == Qt::Key_Plus || event->key() == Qt::Key_Equal) return zoom(0.7, centre);
    if (event->key() == Qt::Key_Minus) return zoom(1 / 0.7, centre);
    if (event->key() == Qt::Key_0) return showAll();
    FigureView::keyPressEvent(event);
}

QString HeatMapView::figureCsv() const {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    writeCsv(buffer);
    return QString::fromUtf8(bytes);
}

/// One line a cell, written in pieces: a large map has sixteen million.
void HeatMapView::writeCsv(QIODevice& out) const {
    constexpr qsizetype kPiece = 1 << 20;
    const auto plain = [](QString name) { return name.remove(',').replace(' ', '_').toUtf8(); };
    QByteArray piece =
        plain(map_.row_name) + ',' + plain(map_.column_name) + ',' + plain(map_.value_name) + '\n';
    for (Eigen::Index row = 0; !isEmpty() && row < map_.values->rows(); ++row) {
        const Eigen::Index last =
            map_.lower_only ? std::min(row + 1, map_.values->cols()) : map_.values->cols();
        for (Eigen::Index column = 0; column < last; ++column)
            piece += QByteArray::number(static_cast<qint64>(row)) + ',' +
                     QByteArray::number(static_cast<qint64>(column)) + ',' +
                     QByteArray::number((*map_.values)(row, column), 'g', 17) + '\n';
        if (piece.size() < kPiece) continue;
        out.write(piece);
        piece.clear();
    }
    out.write(piece);
}

}  // namespace roper
