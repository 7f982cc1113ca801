#include "ui/pages/inspect/head_grid_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "ui/pages/inspect/atlas_view.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr double kLabel = 24, kGridMargin = 6, kGridTop = 18;

/// A map as a picture of one pixel a cell, drawn larger.
QImage pictureOf(const Eigen::MatrixXf& map, const Theme& theme) {
    const auto colors = theme.sequentialColors();
    const auto side = static_cast<int>(map.rows());
    QImage image(side, side, QImage::Format_RGB32);
    const float largest = std::max(map.maxCoeff(), 1e-12F);
    for (int row = 0; row < side; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int column = 0; column < side; ++column)
            line[column] = colors[static_cast<std::size_t>(
                std::lround(255 * std::clamp(map(row, column) / largest, 0.0F, 1.0F)))];
    }
    return image;
}

/// A map of at most so many cells a side, each the largest of those that it stands for: a diagonal stays one.
Eigen::MatrixXf reduced(const Eigen::MatrixXf& map, Eigen::Index side) {
    const Eigen::Index span = (map.rows() + side - 1) / std::max<Eigen::Index>(side, 1);
    if (span <= 1) return map;
    const Eigen::Index cells = (map.rows() + span - 1) / span;
    Eigen::MatrixXf small = Eigen::MatrixXf::Zero(cells, cells);
    for (Eigen::Index row = 0; row < map.rows(); ++row)
        for (Eigen::Index column = 0; column < map.cols(); ++column)
            small(row / span, column / span) = std::max(small(row / span, column / span), map(row, column));
    return small;
}

/// The same as one shape a cell, so that a drawing stays a drawing.
void paintCells(QPainter& painter, const Eigen::MatrixXf& map, const QRectF& box, const Theme& theme) {
    const auto colors = theme.sequentialColors();
    const float largest = std::max(map.maxCoeff(), 1e-12F);
    const double side = box.width() / static_cast<double>(map.rows());
    for (Eigen::Index row = 0; row < map.rows(); ++row)
        for (Eigen::Index column = 0; column < map.cols(); ++column) {
            const auto shade = static_cast<std::size_t>(
                std::lround(255 * std::clamp(map(row, column) / largest, 0.0F, 1.0F)));
            if (shade > 0)
                painter.fillRect(QRectF(box.left() + side * static_cast<double>(column),
                                        box.top() + side * static_cast<double>(row), side, side),
                                 QColor(colors[shade]));
        }
}

/// More than these would make a drawing of tens of megabytes.
constexpr Eigen::Index kMostShapes = 20000;

}  // namespace

HeadGridView::HeadGridView(ModelsState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("Attention of all heads"));
    setFocusPolicy(Qt::StrongFocus);
    for (auto signal : {&ModelsState::headChanged, &ModelsState::modelChanged, &ModelsState::workChanged})
        connect(&state_, signal, this, qOverload<>(&QWidget::update));
}

HeadGridView::Grid HeadGridView::grid(const QRectF& area) const {
    const HeadThumbnails& all = *state_.answer(need::thumbnails);
    Grid grid;
    grid.box = area.adjusted(kGridMargin + kLabel, kGridMargin + 2 * kGridTop, -kGridMargin, -kGridMargin);
    const auto sideOf = [&](int columns, int rows) {
        return std::min(grid.box.width() / columns, grid.box.height() / rows);
    };
    grid.across = sideOf(all.layers, all.heads) > sideOf(all.heads, all.layers);
    grid.columns = grid.across ? all.layers : all.heads;
    grid.rows = grid.across ? all.heads : all.layers;
    const double side = sideOf(grid.columns, grid.rows);
    grid.cell = {side, side};
    return grid;
}

QRectF HeadGridView::mapRect(const Grid& grid, int layer, int head) const {
    const int column = grid.across ? layer : head, row = grid.across ? head : layer;
    const double gap = std::min(4.0, 0.12 * grid.cell.width());
    return {grid.box.left() + grid.cell.width() * column, grid.box.top() + grid.cell.height() * row,
            grid.cell.width() - gap, grid.cell.height() - gap};
}

QRectF HeadGridView::headRect(int layer, int head) const {
    return mapRect(grid(canvas()), layer, head);
}

void HeadGridView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    if (state_.answer(need::thumbnails) == nullptr) {
        painter.setPen(theme.faint_text);
        painter.drawText(area.adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap,
                         !state_.message().isEmpty() ? state_.message()
                         : state_.isAsking()         ? state_.work()
                                                     : tr("The attention of all heads is shown here."));
        return;
    }
    const HeadThumbnails& all = *state_.answer(need::thumbnails);
    const Grid grid = this->grid(area);
    const QFontMetricsF metrics(painter.font());
    painter.setPen(theme.faint_text);
    painter.drawText(QRectF(area.left() + kGridMargin, area.top(), area.width() - 2 * kGridMargin, kGridTop),
                     Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(grid.across ? tr("columns: layers; rows: heads")
                                                    : tr("rows: layers; columns: heads"),
                                        Qt::ElideRight, area.width() - 2 * kGridMargin));
    // Every so many are numbered that no number lies on the one before.
    const auto every = [](double needed, double cell) {
        return std::max(1, static_cast<int>(std::ceil(needed / cell)));
    };
    const int rows_apart = every(metrics.height(), grid.cell.height());
    for (int row = 0; row < grid.rows; row += rows_apart) {
        const double y = grid.box.top() + grid.cell.height() * (row + 0.5);
        painter.drawText(QRectF(area.left() + kGridMargin, y - kGridTop / 2, kLabel - 6, kGridTop),
                         Qt::AlignRight | Qt::AlignVCenter, QString::number(row));
    }
    const double widest = metrics.horizontalAdvance(QString::number(grid.columns)) + 5;
    const int columns_apart = every(widest, grid.cell.width());
    for (int column = 0; column < grid.columns; column += columns_apart) {
        const double x = grid.box.left() + grid.cell.width() * (column + 0.5);
        painter.drawText(QRectF(x - widest / 2, grid.box.top() - kGridTop, widest, kGridTop), Qt::AlignCenter,
                         QString::number(column));
    }
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    const bool as_shapes =
        static_cast<Eigen::Index>(all.maps.size()) * all.maps.front().size() <= kMostShapes;
    for (int layer = 0; layer < all.layers; ++layer)
        for (int head = 0; head < all.heads; ++head) {
            const QRectF box = mapRect(grid, layer, head);
            const Eigen::MatrixXf& map = all.maps[static_cast<std::size_t>(layer * all.heads + head)];
            if (as_shapes)
                paintCells(painter, map, box, theme);
            else
                painter.drawImage(
                    box,
                    pictureOf(reduced(map, std::max<Eigen::Index>(1, static_cast<Eigen::Index>(box.width()))),
                              theme));
            const bool chosen = layer == state_.layer() && head == state_.head();
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(chosen ? Theme::roper() : theme.grid, chosen ? 2.2 : 0.8));
            painter.drawRect(box);
        }
}

std::optional<std::pair<int, int>> HeadGridView::headAt(const QPointF& at) const {
    if (state_.answer(need::thumbnails) == nullptr) return std::nullopt;
    const Grid grid = this->grid(canvas());
    const int column = static_cast<int>(std::floor((at.x() - grid.box.left()) / grid.cell.width())),
              row = static_cast<int>(std::floor((at.y() - grid.box.top()) / grid.cell.height()));
    if (column < 0 || row < 0 || column >= grid.columns || row >= grid.rows) return std::nullopt;
    return grid.across ? std::pair(column, row) : std::pair(row, column);
}

void HeadGridView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    if (const auto head = headAt(event->position())) state_.setHead(head->first, head->second);
}

void HeadGridView::mouseMoveEvent(QMouseEvent* event) {
    const auto at = headAt(event->position());
    if (!at) return emit pointed({});
    if (state_.answer(need::heads) != nullptr)
        for (const HeadReport& report : state_.answer(need::heads)->heads)
            if (report.layer == at->first && report.head == at->second)
                return emit pointed(describeHead(report));
    emit pointed(tr("layer %1, head %2").arg(at->first).arg(at->second));
}

void HeadGridView::keyPressEvent(QKeyEvent* event) {
    if (state_.answer(need::thumbnails) == nullptr) return FigureView::keyPressEvent(event);
    const bool across = grid(canvas()).across;
    const int step = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1 : -1;
    const bool sideways = event->key() == Qt::Key_Left || event->key() == Qt::Key_Right,
               upright = event->key() == Qt::Key_Up || event->key() == Qt::Key_Down;
    if (!sideways && !upright) return FigureView::keyPressEvent(event);
    const bool moves_layer = sideways == across;
    state_.setHead(state_.layer() + (moves_layer ? step : 0), state_.head() + (moves_layer ? 0 : step));
}

QString HeadGridView::figureCsv() const {
    QString csv = QStringLiteral("layer,head,query_cell,key_cell,largest_weight\n");
    if (state_.answer(need::thumbnails) == nullptr) return csv;
    const HeadThumbnails& all = *state_.answer(need::thumbnails);
    for (std::size_t i = 0; i < all.maps.size(); ++i)
        for (Eigen::Index row = 0; row < all.maps[i].rows(); ++row)
            for (Eigen::Index column = 0; column <= row; ++column)
                csv += QStringLiteral("%1,%2,%3,%4,%5\n")
                           .arg(static_cast<int>(i) / all.heads)
                           .arg(static_cast<int>(i) % all.heads)
                           .arg(row)
                           .arg(column)
                           .arg(static_cast<double>(all.maps[i](row, column)), 0, 'g', 9);
    return csv;
}

QString HeadGridView::figureCaption() const {
    if (state_.summary() == nullptr) return {};
    return tr("Attention of all heads of %1, each scaled to its largest weight; a cell shows the largest "
              "weight in it")
        .arg(QString::fromStdString(state_.summary()->name));
}

}  // namespace roper
