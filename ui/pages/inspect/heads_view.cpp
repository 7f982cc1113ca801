#include "ui/pages/inspect/heads_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "ui/pages/inspect/view_text.h"

namespace roper {
namespace {

constexpr double kLabel = 24, kGridMargin = 6, kGridTop = 18, kMinTitleWidth = 30, kWideTitle = 90;

/// The color of a weight; nothing for zero and NaN.
std::optional<QRgb> shadeOf(float weight, float largest, const std::array<QRgb, 256>& colors) {
    if (!(weight > 0)) return std::nullopt;
    return colors[static_cast<std::size_t>(std::lround(255 * std::min(weight / largest, 1.0F)))];
}

/// A map as an image with one pixel per cell, to be scaled up.
QImage pictureOf(const Eigen::MatrixXf& map, const Theme& theme) {
    const auto colors = theme.sequentialColors();
    const auto side = static_cast<int>(map.rows());
    QImage image(side, side, QImage::Format_RGB32);
    const float largest = std::max(map.maxCoeff(), 1e-12F);
    for (int row = 0; row < side; ++row) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(row));
        for (int column = 0; column < side; ++column)
            line[column] = shadeOf(map(row, column), largest, colors).value_or(colors.front());
    }
    return image;
}

/// Draws a map with one shape per cell, so that vector exports stay vector graphics.
void paintCells(QPainter& painter, const Eigen::MatrixXf& map, const QRectF& box, const Theme& theme) {
    const auto colors = theme.sequentialColors();
    const float largest = std::max(map.maxCoeff(), 1e-12F);
    const double side = box.width() / static_cast<double>(map.rows());
    for (Eigen::Index row = 0; row < map.rows(); ++row)
        for (Eigen::Index column = 0; column < map.cols(); ++column)
            if (const auto shade = shadeOf(map(row, column), largest, colors))
                painter.fillRect(QRectF(box.left() + side * static_cast<double>(column),
                                        box.top() + side * static_cast<double>(row), side, side),
                                 QColor(*shade));
}

/// Limit on vector shapes: more would make files of tens of megabytes.
constexpr Eigen::Index kMaxShapes = 20000;

}  // namespace

HeadsView::HeadsView(InspectState& state, QWidget* parent) : FigureView(parent), state_(state) {
    setAccessibleName(tr("Attention of all heads"));
    setFocusPolicy(Qt::StrongFocus);
    for (auto signal : {&InspectState::headChanged, &InspectState::modelChanged,
                        &InspectState::answerOrProgressChanged, &InspectState::snapshotsChanged})
        connect(&state_, signal, this, qOverload<>(&QWidget::update));
}

std::vector<int> HeadsView::ordered() const {
    const auto all = heads();
    std::vector<int> order(all != nullptr ? all->maps.size() : 0);
    std::iota(order.begin(), order.end(), 0);
    if (all == nullptr || !isSorted(*all)) return order;
    const auto number = [&](int head) {
        const double of_head = numbers_[static_cast<std::size_t>(head)];
        return std::isnan(of_head) ? std::numeric_limits<double>::infinity() : of_head;
    };
    std::ranges::stable_sort(order, {}, number);
    return order;
}

HeadsView::Grid HeadsView::grid(const QRectF& area, const HeadThumbnails& all) const {
    const QRectF whole = area.adjusted(kGridMargin, kGridMargin, -kGridMargin, -kGridMargin);
    if (isSorted(all)) return sortedGrid(whole, static_cast<int>(all.maps.size()));
    Grid grid;
    grid.box = whole.adjusted(kLabel, 2 * kGridTop, 0, 0);
    const auto sideOf = [&](int columns, int rows) {
        return std::min(grid.box.width() / columns, grid.box.height() / rows);
    };
    grid.across = sideOf(all.layers, all.heads) > sideOf(all.heads, all.layers);
    grid.columns = grid.across ? all.layers : all.heads;
    grid.rows = grid.across ? all.heads : all.layers;
    const double side = sideOf(grid.columns, grid.rows);
    grid.cell = {side, side};
    grid.side = side - std::min(4.0, 0.12 * side);
    return grid;
}

/// Uses the number of columns that makes the maps largest; titles are shown if they fit.
HeadsView::Grid HeadsView::sortedGrid(const QRectF& box, int count) const {
    const auto best = [&](double title) {
        Grid grid;
        for (int columns = 1; columns <= count; ++columns) {
            const int rows = (count + columns - 1) / columns;
            const double side = std::min(box.width() / columns, box.height() / rows - title);
            if (side <= grid.side) continue;
            grid = {columns, rows, box, {side, side + title}, side, title};
        }
        grid.side -= std::min(4.0, 0.12 * grid.side);
        return grid;
    };
    const Grid titled = best(kGridTop);
    return titled.side > kMinTitleWidth ? titled : best(0);
}

QRectF HeadsView::mapRect(const Grid& grid, int place, const HeadThumbnails& all) const {
    const bool is_sorted = isSorted(all);
    const int columns = is_sorted ? grid.columns : all.heads;
    int row = place / columns, column = place % columns;
    if (!is_sorted && grid.across) std::swap(row, column);
    return {grid.box.left() + grid.cell.width() * column,
            grid.box.top() + grid.cell.height() * row + grid.title, grid.side, grid.side};
}

QRectF HeadsView::headRect(int layer, int head) const {
    const auto all = heads();
    const std::vector<int> order = ordered();
    const auto place = std::ranges::find(order, layer * all->heads + head) - order.begin();
    return mapRect(grid(canvas(), *all), static_cast<int>(place), *all);
}

/// Draws layer and head numbers, skipping some if they would overlap.
void HeadsView::paintNumbers(QPainter& painter, const QRectF& area, const Grid& grid,
                             const Theme& theme) const {
    const QFontMetricsF metrics(painter.font());
    drawColoredText(painter,
                    QRectF(area.left() + kGridMargin, area.top(), area.width() - 2 * kGridMargin, kGridTop),
                    kLeftMiddle,
                    metrics.elidedText(
                        grid.across ? tr("columns: layers; rows: heads") : tr("rows: layers; columns: heads"),
                        Qt::ElideRight, area.width() - 2 * kGridMargin),
                    theme.faint_text);
    const auto every = [](double needed, double cell) {
        return std::max(1, static_cast<int>(std::ceil(needed / cell)));
    };
    const int rows_apart = every(metrics.height(), grid.cell.height());
    for (int row = 0; row < grid.rows; row += rows_apart) {
        const double y = grid.box.top() + grid.cell.height() * (row + 0.5);
        painter.drawText(QRectF(area.left() + kGridMargin, y - kGridTop / 2, kLabel - 6, kGridTop),
                         kRightMiddle, QString::number(row));
    }
    const double widest = metrics.horizontalAdvance(QString::number(grid.columns)) + 5;
    const int columns_apart = every(widest, grid.cell.width());
    for (int column = 0; column < grid.columns; column += columns_apart) {
        const double x = grid.box.left() + grid.cell.width() * (column + 0.5);
        painter.drawText(QRectF(x - widest / 2, grid.box.top() - kGridTop, widest, kGridTop), Qt::AlignCenter,
                         QString::number(column));
    }
}

void HeadsView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const auto all = heads();
    if (all == nullptr) return paintPlaceholder(painter, area, theme, placeholderText());
    const Grid grid = this->grid(area, *all);
    if (!isSorted(*all)) paintNumbers(painter, area, grid, theme);
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    const bool as_shapes =
        static_cast<Eigen::Index>(all->maps.size()) * all->maps.front().size() <= kMaxShapes;
    const std::vector<int> order = ordered();
    for (int place = 0; place < static_cast<int>(order.size()); ++place) {
        const int head = order[static_cast<std::size_t>(place)];
        const Eigen::MatrixXf& map = all->maps[static_cast<std::size_t>(head)];
        const QRectF box = mapRect(grid, place, *all);
        if (as_shapes)
            paintCells(painter, map, box, theme);
        else
            painter.drawImage(
                box,
                pictureOf(downsampled(map, std::max<Eigen::Index>(1, static_cast<Eigen::Index>(box.width()))),
                          theme));
        const bool chosen = head == state_.layer() * all->heads + state_.head();
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(chosen ? Theme::roper() : theme.grid, chosen ? 2.2 : 0.8));
        painter.drawRect(box);
        if (grid.title == 0) continue;
        const int layer = head / all->heads, number = head % all->heads;
        drawColoredText(painter, box.adjusted(0, -grid.title, 0, -box.height() - 2), kLeftMiddle,
                        box.width() > kWideTitle ? headTitle(layer, number)
                                                 : QStringLiteral("%1·%2").arg(layer).arg(number),
                        chosen ? theme.text : theme.faint_text);
    }
}

std::optional<std::pair<int, int>> HeadsView::headAt(const QPointF& at) const {
    const auto all = heads();
    if (all == nullptr) return std::nullopt;
    const Grid grid = this->grid(canvas(), *all);
    const std::vector<int> order = ordered();
    for (std::size_t place = 0; place < order.size(); ++place) {
        const QRectF map = mapRect(grid, static_cast<int>(place), *all);
        const QRectF cell(map.left(), map.top() - grid.title, grid.cell.width(), grid.cell.height());
        if (cell.contains(at)) return std::pair(order[place] / all->heads, order[place] % all->heads);
    }
    return std::nullopt;
}

void HeadsView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return FigureView::mousePressEvent(event);
    if (const auto head = headAt(event->position())) emit headChosen(head->first, head->second);
}

void HeadsView::mouseMoveEvent(QMouseEvent* event) {
    const auto at = headAt(event->position());
    emit hovered(at ? describe(at->first, at->second) : QString());
}

void HeadsView::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const int step = key == Qt::Key_Right || key == Qt::Key_Down ? 1 : -1;
    const bool sideways = key == Qt::Key_Left || key == Qt::Key_Right,
               upright = key == Qt::Key_Up || key == Qt::Key_Down;
    const auto all = heads();
    if (all == nullptr || (!sideways && !upright)) return FigureView::keyPressEvent(event);
    const Grid grid = this->grid(canvas(), *all);
    if (!isSorted(*all)) {
        const bool moves_layer = sideways == grid.across;
        return emit headChosen(state_.layer() + (moves_layer ? step : 0),
                               state_.head() + (moves_layer ? 0 : step));
    }
    const std::vector<int> order = ordered();
    const int chosen = state_.layer() * all->heads + state_.head();
    const auto at = std::ranges::find(order, chosen) - order.begin();
    const auto next =
        std::clamp<std::ptrdiff_t>(at + step * (sideways ? 1 : grid.columns), 0, std::ssize(order) - 1);
    const int head = order[static_cast<std::size_t>(next)];
    emit headChosen(head / all->heads, head % all->heads);
}

}  // namespace roper
