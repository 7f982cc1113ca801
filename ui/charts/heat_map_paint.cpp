#include <QPaintEngine>
#include <algorithm>
#include <cmath>

#include "ui/charts/heat_map_view.h"
#include "ui/charts/ticks.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

// Painting of a HeatMapView: cells as tiles or shapes, labels, the color bar.

namespace roper {
namespace {

constexpr double kLeft = 64, kTop = 34, kRight = 76, kBarGap = 10, kBottom = 10, kTitle = 20, kDistances = 34;
constexpr double kBarWidth = 12;
constexpr double kMinCharacterCell = 6.5;  // smallest cell in which a letter is readable
constexpr double kMaxShapes = 1 << 15;     // larger maps are exported as a bitmap with vector labels

}  // namespace

/// Width for the color bar and its numbers.
double HeatMapView::rightMargin() const {
    constexpr double kNextToBars = 16;
    if (isOneColumn()) return kNextToBars;
    const QFontMetricsF metrics(smallFont(Zoom::instance().figureFont()));
    return std::max(kRight, kBarGap + metrics.horizontalAdvance(map_.value_name) + 4);
}

HeatMapView::Frame HeatMapView::frame(const QRectF& area) const {
    Frame frame;
    frame.cells = shown_;
    frame.box = mapArea(area).adjusted(kLeft, kTop + (title_.isEmpty() ? 0 : kTitle), -rightMargin(),
                                       -kBottom - (map_.shows_distances ? kDistances : 0));
    // Maps of tokens by tokens keep square cells; others fill their area.
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
    if (isEmpty()) return paintNote(painter, area.adjusted(20, 20, -20, -20), emptyText(), theme);
    const Frame at = frame(area);
    painter.setFont(smallFont(painter.font()));
    const bool has_bars = isOneColumn();
    painter.save();
    painter.setClipRect(at.box);
    if ((map_.has_gaps || map_.lower_triangle_only) && !has_bars) painter.fillRect(at.box, theme.grid);
    if (has_bars)
        paintBars(painter, at, theme);
    else
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
    if (!has_bars) paintColorBar(painter, at, theme);
    if (title_.isEmpty()) return;
    painter.setFont(boldFont(painter.font()));
    const QRectF title_area(area.left() + 8, area.top() + 4, area.width() - 16, kTitle);
    drawColoredText(
        painter, title_area, kLeftMiddle,
        painter.fontMetrics().elidedText(title_, Qt::ElideRight, static_cast<int>(title_area.width())),
        theme.text);
}

ColorTable HeatMapView::colorsIn(const Theme& theme) const {
    switch (map_.scale) {
        case Scale::diverging:
            return theme.divergingColors();
        case Scale::sequential:
            return theme.sequentialColors();
        case Scale::categorical:
            return theme.categoryColors();
    }
    return {};
}

void HeatMapView::paintCells(QPainter& painter, const Frame& at, const Theme& theme) const {
    const ColorTable colors = colorsIn(theme);
    const bool is_vector = painter.paintEngine()->type() != QPaintEngine::Raster;
    if (is_vector && at.cells.width() * at.cells.height() <= kMaxShapes) {
        paintCellsAsShapes(painter, at, colors);
    } else {
        if (tiles_background_ != theme.background) map_.pyramid->dropTiles();
        tiles_background_ = theme.background;
        paintTiles(painter, at, colors);
    }
    paintNumbers(painter, at, colors);
}

/// A value to about a hundredth of the color limit: "0.13" for a limit of 1, "44" for 100.
QString HeatMapView::cellText(double value) const {
    constexpr int kMaxDecimals = 4;
    if (map_.has_whole_numbers || map_.scale == Scale::categorical) return fixedNumberText(value, 0);
    const int magnitude = static_cast<int>(std::floor(std::log10(map_.limit) + 1e-9));
    const int decimals = std::clamp(2 - magnitude, 0, kMaxDecimals);
    const bool is_zero = std::abs(value) < 0.5 * std::pow(10.0, -decimals);  // not "−0.00"
    return fixedNumberText(is_zero ? 0 : value, decimals);
}

/// The values of all visible cells, if the widest of them fits into a cell.
void HeatMapView::paintNumbers(QPainter& painter, const Frame& at, const ColorTable& colors) const {
    constexpr double kPadding = 6;  // both sides together
    const QFontMetricsF metrics(painter.font());
    const QString widest = cellText(map_.scale == Scale::diverging ? -map_.limit : map_.limit);
    if (at.cell_height < metrics.height() + 2 || at.cell_width < metrics.horizontalAdvance(widest) + kPadding)
        return;
    const TilePyramid& pyramid = *map_.pyramid;
    const QRectF box = at.box.adjusted(-1, -1, 1, 1);  // cells cut by its edges show no number
    const int last_row = std::min(static_cast<int>(at.cells.bottom()), pyramid.rows());
    const int last_column = std::min(static_cast<int>(at.cells.right()), pyramid.columns());
    for (int row = static_cast<int>(at.cells.top()); row < last_row; ++row) {
        for (int column = static_cast<int>(at.cells.left()); column < last_column; ++column) {
            const QRectF cell(at.x(column), at.y(row), at.cell_width, at.cell_height);
            if (!hasEntry(row, column)) continue;  // it has no color either
            const QString text = cellText((*map_.values)(row, column));
            if (!box.contains(cell) || metrics.horizontalAdvance(text) + kPadding > cell.width()) continue;
            const QRgb fill = TilePyramid::colorOf(pyramid.colorIndex(0, row, column), colors);
            drawColoredText(painter, cell, Qt::AlignCenter, text, textColorOn(QColor(fill)));
        }
    }
}

/// x at the end of the bar of a value. @param number_width  room for the number beside the longest bar
double HeatMapView::barX(const Frame& at, double value, double number_width) const {
    const double room = std::max(0.0, at.box.width() - number_width);
    return at.box.left() + std::clamp(value / map_.limit, 0.0, 1.0) * room;
}

/// A bar from zero in every row, with its value at the end.
void HeatMapView::paintBars(QPainter& painter, const Frame& at, const Theme& theme) const {
    constexpr double kMaxBarHeight = 26;
    const QFontMetricsF metrics(painter.font());
    const double number_width = metrics.horizontalAdvance(cellText(map_.limit)) + 12;
    const double height = std::min(kMaxBarHeight, 0.7 * at.cell_height);
    const int step = wholeStep(at.cells.height(), at.box.height() / (metrics.height() + 2));
    const int last =
        std::min(static_cast<int>(std::ceil(at.cells.bottom())), static_cast<int>(map_.values->rows()));
    for (int row = static_cast<int>(at.cells.top()); row < last; ++row) {
        if (!hasEntry(row, 0)) continue;
        const double value = (*map_.values)(row, 0), end = barX(at, value, number_width);
        const double middle = at.y(row + 0.5);
        painter.fillRect(QRectF(at.box.left(), middle - height / 2, end - at.box.left(), height),
                         theme.faded(theme.text, 0.45));
        if (row % step == 0)
            drawColoredText(painter, QRectF(end + 4, middle - 9, number_width, 18), kLeftMiddle,
                            cellText(value), theme.text);
    }
}

/// Draws the ticks of the values above the bars.
void HeatMapView::paintBarAxis(QPainter& painter, const Frame& at, const Theme& theme) const {
    constexpr int kParts = 4;
    const double number_width = QFontMetricsF(painter.font()).horizontalAdvance(cellText(map_.limit)) + 12;
    for (const double tick : niceTicks(0, map_.limit, kParts)) {
        const double x = barX(at, tick, number_width);
        painter.setPen(QPen(theme.frame, 1));
        painter.drawLine(QPointF(x, at.box.top() - 3), QPointF(x, at.box.top()));
        drawColoredText(painter, QRectF(x - 20, at.box.top() - 18, 40, 16), Qt::AlignCenter,
                        numberText(tick, 3), theme.faint_text);
    }
}

/// One rectangle per run of equal colors in a row.
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
            if (index == TilePyramid::kClearIndex) continue;
            // A slight overlap avoids visible seams in viewers.
            painter.fillRect(
                QRectF(QPointF(at.x(first), at.y(row)), QPointF(at.x(column) + 0.15, at.y(row + 1) + 0.15)),
                QColor(TilePyramid::colorOf(index, colors)));
        }
    }
}

void HeatMapView::paintTiles(QPainter& painter, const Frame& at, const ColorTable& colors) const {
    TilePyramid& pyramid = *map_.pyramid;
    const double ratio = painter.deviceTransform().m11();
    const int level = pyramid.levelFor(at.cell_height * ratio, at.cell_width * ratio);
    const double rows = pyramid.rowsPerEntry(level), columns = pyramid.columnsPerEntry(level);
    const double down = rows * TilePyramid::kTileSize, across = columns * TilePyramid::kTileSize;
    painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
    painter.setRenderHint(QPainter::Antialiasing, false);
    // Rounded to whole device pixels, so that tiles meet without seams.
    const auto snapped = [ratio](double value) { return std::round(value * ratio) / ratio; };
    for (int row = static_cast<int>(at.cells.top() / down); row * down < at.cells.bottom(); ++row) {
        for (int column = static_cast<int>(at.cells.left() / across); column * across < at.cells.right();
             ++column) {
            if (row * TilePyramid::kTileSize >= pyramid.rows(level) ||
                column * TilePyramid::kTileSize >= pyramid.columns(level))
                continue;
            const QImage& tile = pyramid.tile(level, row, column, colors);
            const double left = column * across, top = row * down;
            painter.drawImage(QRectF(QPointF(snapped(at.x(left)), snapped(at.y(top))),
                                     QPointF(snapped(at.x(left + tile.width() * columns)),
                                             snapped(at.y(top + tile.height() * rows)))),
                              tile, QRectF(tile.rect()));
        }
    }
}

bool HeatMapView::labelsAreCharacters() const {
    const auto single = [](const QStringList& labels) {
        return !labels.isEmpty() &&
               std::ranges::all_of(labels, [](const QString& label) { return label.size() == 1; });
    };
    return single(map_.row_labels) && single(map_.column_labels);
}

/// @param tiny  the labels are single characters that fit at every row
void HeatMapView::paintRowLabels(QPainter& painter, const Frame& at, bool tiny) const {
    const QFontMetrics metrics = painter.fontMetrics();
    const int row_step = tiny ? 1 : wholeStep(at.cells.height(), at.box.height() / (metrics.height() + 2));
    const auto last_row =
        std::min<int>(static_cast<int>(at.cells.bottom()), static_cast<int>(map_.values->rows()) - 1);
    for (int row = static_cast<int>(std::ceil(at.cells.top() / row_step)) * row_step; row <= last_row;
         row += row_step) {
        // Numbers, if not all tokens of a text have room: the others would read as a different text.
        const bool named = (row_step == 1 || map_.row_labels_are_names) && row < map_.row_labels.size();
        const QString text = named ? map_.row_labels[row] : QString::number(row);
        const QRectF label_area(at.box.left() - kLeft + 16, at.y(row + 0.5) - 9, kLeft - 21, 18);
        if (label_area.center().y() > at.box.bottom() || label_area.center().y() < at.box.top()) continue;
        painter.drawText(label_area, kRightMiddle,
                         metrics.elidedText(text, Qt::ElideRight, static_cast<int>(label_area.width())));
    }
}

/// @param tiny  the labels are single characters that fit at every column
void HeatMapView::paintColumnLabels(QPainter& painter, const Frame& at, bool tiny) const {
    const QFontMetrics metrics = painter.fontMetrics();
    const auto last_column =
        std::min<int>(static_cast<int>(at.cells.right()), static_cast<int>(map_.values->cols()) - 1);
    const auto step_for = [&](double widest) {
        return wholeStep(at.cells.width(), at.box.width() / (widest + 6));
    };
    // Tokens if all of them fit, otherwise numbers.
    double widest = 0;
    if (at.cells.width() * metrics.averageCharWidth() < at.box.width())
        for (int column = static_cast<int>(at.cells.left()); column <= last_column; ++column)
            if (column < map_.column_labels.size())
                widest = std::max<double>(
                    widest, std::min(metrics.horizontalAdvance(map_.column_labels[column]), 40));
    const bool named_columns = tiny || (widest > 0 && step_for(widest) == 1);
    const int column_step =
        named_columns
            ? 1
            : step_for(metrics.horizontalAdvance(QString::number(static_cast<int>(map_.values->cols()))));
    for (int column = static_cast<int>(std::ceil(at.cells.left() / column_step)) * column_step;
         column <= last_column; column += column_step) {
        const bool named = named_columns && column < map_.column_labels.size();
        const QString text = named ? map_.column_labels[column] : QString::number(column);
        const double room = std::max(column_step * at.cell_width, 12.0);
        const QRectF label_area(at.x(column + 0.5) - room / 2, at.box.top() - 18, room, 16);
        if (label_area.center().x() > at.box.right() || label_area.center().x() < at.box.left()) continue;
        painter.drawText(label_area, Qt::AlignCenter,
                         metrics.elidedText(text, Qt::ElideRight, static_cast<int>(room)));
    }
}

void HeatMapView::paintDistances(QPainter& painter, const Frame& at) const {
    const QFontMetrics metrics = painter.fontMetrics();
    const int columns = static_cast<int>(map_.values->cols());
    const int widest = metrics.horizontalAdvance(QString::number(-columns));
    const int step = wholeStep(at.cells.width(), at.box.width() / (widest + 6));
    for (int column = static_cast<int>(at.cells.left()); column < std::min<double>(at.cells.right(), columns);
         ++column) {
        const int distance = marked_row_ - column;
        if (distance % step != 0 || (map_.lower_triangle_only && distance < 0)) continue;
        const double middle = at.x(column + 0.5);
        if (middle < at.box.left() || middle > at.box.right()) continue;
        painter.drawText(QRectF(middle - 20, at.box.bottom() + 3, 40, 15), Qt::AlignCenter,
                         QString::number(distance).replace('-', QChar(0x2212)));
    }
    painter.drawText(QRectF(at.box.left(), at.box.bottom() + 18, at.box.width(), 15), kLeftMiddle,
                     tr("distance from query %1 →").arg(marked_row_));
}

void HeatMapView::paintAxes(QPainter& painter, const Frame& at, const Theme& theme) const {
    painter.save();
    painter.setPen(theme.faint_text);
    const bool tiny = labelsAreCharacters() && std::min(at.cell_width, at.cell_height) >= kMinCharacterCell;
    if (tiny && at.cell_height < painter.fontMetrics().height() + 2) {
        // Single characters are drawn as text, however small.
        QFont small = painter.font();
        small.setPixelSize(std::min(QFontInfo(small).pixelSize(), static_cast<int>(at.cell_height)));
        painter.setFont(small);
    }
    paintRowLabels(painter, at, tiny);
    if (isOneColumn())
        paintBarAxis(painter, at, theme);
    else
        paintColumnLabels(painter, at, tiny);
    if (map_.shows_distances && marked_row_ >= 0) paintDistances(painter, at);
    painter.restore();
    drawColoredText(painter, QRectF(at.box.left(), at.box.top() - 33, at.box.width(), 15), Qt::AlignLeft,
                    (isOneColumn() ? map_.value_name : map_.column_name) + QStringLiteral(" →"), theme.text);
    painter.save();
    painter.translate(at.box.left() - kLeft + 2, at.box.top());
    painter.rotate(90);
    painter.drawText(QRectF(0, -14, at.box.height(), 15), kLeftMiddle, map_.row_name + QStringLiteral(" →"));
    painter.restore();
}

void HeatMapView::paintColorBar(QPainter& painter, const Frame& at, const Theme& theme) const {
    const bool diverging = map_.scale == Scale::diverging;
    const ColorTable colors = colorsIn(theme);
    const QRectF bar(at.box.right() + kBarGap, at.box.top() + 16, kBarWidth,
                     std::min(160.0, at.box.height() - 18));
    if (bar.height() < 30) return;
    if (map_.scale == Scale::categorical) {
        const int count = static_cast<int>(map_.limit) + 1;
        const double height = bar.height() / count;
        for (int i = 0; i < count; ++i)
            painter.fillRect(QRectF(bar.left(), bar.bottom() - (i + 1) * height, bar.width(), height),
                             QColor(colors[static_cast<std::size_t>(i % 256)]));
        painter.setBrush(Qt::NoBrush);
    } else {
        QLinearGradient gradient(bar.bottomLeft(), bar.topLeft());
        for (int i = 0; i <= 16; ++i)
            gradient.setColorAt(i / 16.0, QColor(colors[static_cast<std::size_t>(std::min(i * 16, 255))]));
        painter.setBrush(gradient);
    }
    painter.setPen(QPen(theme.frame, 1));
    painter.drawRect(bar);
    drawColoredText(painter, QRectF(bar.left(), bar.top() - 18, rightMargin() - kBarGap, 16), Qt::AlignLeft,
                    map_.value_name, theme.text);
    painter.setPen(theme.faint_text);
    const auto label = [&](double y, const QString& text) {
        painter.drawText(QRectF(bar.right() + 4, y - 8, kRight - kBarWidth - 14, 16), kLeftMiddle, text);
    };
    label(bar.top() + 4, numberText(map_.limit, 3));
    label(bar.bottom() - 4, diverging ? numberText(-map_.limit, 3) : QStringLiteral("0"));
    if (diverging) label(bar.center().y(), QStringLiteral("0"));
    if (!map_.has_gaps && !map_.lower_triangle_only) return;
    const QRectF absent(bar.left(), bar.bottom() + 12, kBarWidth, kBarWidth);
    if (absent.bottom() > at.box.bottom()) return;
    painter.setPen(QPen(theme.frame, 1));
    painter.setBrush(theme.grid);
    painter.drawRect(absent);
    painter.setPen(theme.faint_text);
    label(absent.center().y(), map_.lower_triangle_only  ? tr("masked")
                               : map_.gap_name.isEmpty() ? tr("none")
                                                         : map_.gap_name);
}

}  // namespace roper
