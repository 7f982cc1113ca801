#include "ui/pages/compare/length_map_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/charts/ticks.h"
#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr double kTitle = 20, kBelow = 34, kLeft = 34, kGap = 12, kColorBar = 72;

QString unitOf(const LengthMap& map) {
    if (map.metric != LengthMap::Metric::solved) return LengthMapView::tr("tokens");
    return QString::fromStdString(taskKind(map.task).length_unit);
}

bool hasOneRow(const LengthMap& map) {
    return map.trained.size() == 1;
}

QString axisText(const LengthMap& map) {
    const QString axis =
        map.metric == LengthMap::Metric::loss ? LengthMapView::tr("positions below") : unitOf(map);
    return hasOneRow(map) ? LengthMapView::tr("%1 (trained up to %2)").arg(axis).arg(map.trained.front())
                          : LengthMapView::tr("%1 (rows: training length)").arg(axis);
}

/// "73" for a percentage, "3.41" for a loss.
QString shortValue(const LengthMap& map, double mean) {
    return map.metric == LengthMap::Metric::loss ? fixedNumberText(mean, 2)
                                                 : QString::number(std::lround(100 * mean));
}

QString lengthText(const LengthMap& map, std::int64_t length) {
    if (map.metric == LengthMap::Metric::loss)
        return length == 1 ? LengthMapView::tr("position 0")
                           : LengthMapView::tr("positions %1 to %2").arg(length / 2).arg(length - 1);
    if (map.metric == LengthMap::Metric::token_accuracy)
        return LengthMapView::tr("sequences of %1 tokens").arg(length);
    return LengthMapView::tr("problems of %1 %2").arg(length).arg(unitOf(map));
}

QString valueText(const LengthMap& map, const LengthMap::Cell& cell) {
    const QString by = countText(cell.runs, LengthMapView::tr("run"));
    if (map.metric == LengthMap::Metric::loss)
        return LengthMapView::tr("loss %1 nats, mean of %2").arg(fixedNumberText(cell.mean(), 4), by);
    const bool solved = map.metric == LengthMap::Metric::solved;
    return LengthMapView::tr("%1 of %2 %3 (%4 %) by %5")
        .arg(std::lround(cell.sum))
        .arg(cell.total)
        .arg(solved ? LengthMapView::tr("solved") : LengthMapView::tr("right"),
             fixedNumberText(100 * cell.mean(), 1), by);
}

}  // namespace

LengthMapView::LengthMapView(QWidget* parent)
    : FigureView(parent, QStringLiteral("length-map"), tr("Results by length and by training length")) {}

void LengthMapView::setMaps(std::vector<LengthMap> maps, bool losses) {
    maps_ = std::move(maps);
    losses_ = losses;
    setName(losses ? QStringLiteral("loss-by-position") : QStringLiteral("length-map"));
    worst_ = 0;
    best_ = 1;
    if (losses_ && !maps_.empty()) {  // losses have no worst value, so the colors span the data
        worst_ = -std::numeric_limits<double>::infinity();
        best_ = -worst_;
        for (const LengthMap& map : maps_)
            for (const LengthMap::Panel& panel : map.panels)
                for (const auto& [key, cell] : panel.cells) {
                    if (!std::isfinite(cell.mean())) continue;
                    worst_ = std::max(worst_, cell.mean());
                    best_ = std::min(best_, cell.mean());
                }
    }
    update();
}

double LengthMapView::goodness(double mean) const {
    if (worst_ == best_) return 1;
    const double fraction = (mean - worst_) / (best_ - worst_);
    return std::isfinite(fraction) ? std::clamp(fraction, 0.0, 1.0) : 0;
}

QRectF LengthMapView::PlacedPanel::cell(std::size_t row, std::size_t column) const {
    const double width = cells.width() / static_cast<double>(map->lengths.size()),
                 height = cells.height() / static_cast<double>(map->trained.size());
    return {cells.left() + static_cast<double>(column) * width,
            cells.top() + static_cast<double>(row) * height, width, height};
}

/// Arranges the panels in the number of columns that makes their shape most similar to `kBestShape`.
std::vector<LengthMapView::PlacedPanel> LengthMapView::placed(const QRectF& area) const {
    std::vector<PlacedPanel> all;
    for (const LengthMap& map : maps_)
        for (const LengthMap::Panel& panel : map.panels)
            all.push_back({&map, &panel, {}, {}});
    if (all.empty()) return all;
    constexpr double kBestShape = 1.6;  // width over height of a panel
    const QRectF room = area.adjusted(6, 6, hasColors() ? -kColorBar - 6 : -6, -6);
    std::size_t columns = 1;
    double best = 1e9;
    for (std::size_t trial = 1; trial <= all.size(); ++trial) {
        const auto rows = static_cast<double>((all.size() + trial - 1) / trial);
        const double shape = room.width() / static_cast<double>(trial) / (room.height() / rows);
        if (const double off = std::abs(std::log(shape / kBestShape)); off < best) {
            best = off;
            columns = trial;
        }
    }
    const std::size_t rows = (all.size() + columns - 1) / columns;
    const double width = room.width() / static_cast<double>(columns),
                 height = room.height() / static_cast<double>(rows);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].box =
            QRectF(room.left() + static_cast<double>(i % columns) * width,
                   room.top() + static_cast<double>(i / columns) * height, width - kGap, height - kGap);
        all[i].cells = all[i].box.adjusted(kLeft, kTitle, 0, -kBelow);
    }
    return all;
}

QRectF LengthMapView::cellRect(std::size_t map, std::size_t panel, std::int64_t trained,
                               std::int64_t length) const {
    for (const PlacedPanel& one : placed(canvas())) {
        if (one.map != &maps_[map] || one.panel != &maps_[map].panels[panel]) continue;
        const auto row = std::ranges::find(one.map->trained, trained);
        const auto column = std::ranges::find(one.map->lengths, length);
        if (row == one.map->trained.end() || column == one.map->lengths.end()) return {};
        return one.cell(static_cast<std::size_t>(row - one.map->trained.begin()),
                        static_cast<std::size_t>(column - one.map->lengths.begin()));
    }
    return {};
}

bool LengthMapView::hasColors() const {
    return std::ranges::any_of(maps_, [](const LengthMap& map) { return !hasOneRow(map); });
}

void LengthMapView::paintCells(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const {
    const auto colors = theme.sequentialColors();
    const LengthMap& map = *panel.map;
    for (std::size_t row = 0; row < map.trained.size(); ++row)
        for (std::size_t column = 0; column < map.lengths.size(); ++column) {
            const QRectF cell = panel.cell(row, column);
            const auto found = panel.panel->cells.find({map.trained[row], map.lengths[column]});
            if (found == panel.panel->cells.end()) continue;
            const double mean = found->second.mean();
            const QRgb color = colors[static_cast<std::size_t>(std::lround(goodness(mean) * 255))];
            painter.fillRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), QColor(color));
            if (cell.width() < 26 || cell.height() < 15) continue;
            drawColoredText(painter, cell, Qt::AlignCenter, shortValue(map, mean),
                            textColorOn(QColor(color)));
        }
}

/// The heavy line of each row and, in a map of several rows, its training length.
void LengthMapView::paintRowLabels(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const {
    const LengthMap& map = *panel.map;
    for (std::size_t row = 0; row < map.trained.size(); ++row) {
        // Lengths right of this line do not occur in training.
        const auto beyond = std::upper_bound(map.lengths.begin(), map.lengths.end(), map.trained[row]);
        const double x = panel.cell(row, static_cast<std::size_t>(beyond - map.lengths.begin())).left();
        painter.setPen(QPen(Theme::method(panel.panel->position), 3, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(QPointF(x, panel.cell(row, 0).top()), QPointF(x, panel.cell(row, 0).bottom()));
        if (hasOneRow(map)) continue;
        drawColoredText(
            painter,
            QRectF(panel.box.left(), panel.cell(row, 0).top(), kLeft - 6, panel.cell(row, 0).height()),
            kRightMiddle, QString::number(map.trained[row]), theme.faint_text);
    }
}

/// y of a value in a map of one row, with room for numbers above: the axis is 0 to 100 %, or the range of the
/// losses.
double LengthMapView::heightOf(const PlacedPanel& panel, double mean) const {
    constexpr double kAbove = 18;
    const double low = losses_ ? std::min(best_, worst_) : 0, high = losses_ ? std::max(best_, worst_) : 1;
    const double fraction = high > low ? std::clamp((mean - low) / (high - low), 0.0, 1.0) : 0.5;
    const double below = losses_ ? kAbove / 2 : 0;
    return panel.cells.bottom() - below - fraction * std::max(0.0, panel.cells.height() - below - kAbove);
}

/// Values by length: bars for percentages, a curve for losses, with the number above each.
void LengthMapView::paintSingleRow(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const {
    constexpr double kMaxBarWidth = 40, kDot = 3.5;
    constexpr int kTicks = 4;
    const LengthMap& map = *panel.map;
    const QFontMetricsF metrics(painter.font());
    for (const double tick : losses_ ? niceTicks(best_, worst_, kTicks) : std::vector<double>{0, 0.5, 1}) {
        const double y = heightOf(panel, tick);
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(panel.cells.left(), y), QPointF(panel.cells.right(), y));
        drawColoredText(painter, QRectF(panel.box.left(), y - 8, kLeft - 6, 16), kRightMiddle,
                        shortValue(map, tick), theme.faint_text);
    }
    // All numbers or none: gaps among them would look like missing values.
    const bool has_room = std::ranges::all_of(panel.panel->cells, [&](const auto& cell) {
        return metrics.horizontalAdvance(shortValue(map, cell.second.mean())) + 2 <= panel.cell(0, 0).width();
    });
    const QColor color = Theme::method(panel.panel->position);
    std::optional<QPointF> previous;
    for (std::size_t column = 0; column < map.lengths.size(); ++column) {
        const auto found = panel.panel->cells.find({map.trained.front(), map.lengths[column]});
        if (found == panel.panel->cells.end()) {
            previous.reset();
            continue;
        }
        const QRectF cell = panel.cell(0, column);
        const QPointF top(cell.center().x(), heightOf(panel, found->second.mean()));
        if (losses_) {
            painter.setPen(QPen(color, 1.6));
            if (previous) painter.drawLine(*previous, top);
            painter.setBrush(color);
            painter.drawEllipse(top, kDot, kDot);
            previous = top;
        } else {
            const double width = std::min(kMaxBarWidth, 0.7 * cell.width());
            painter.fillRect(QRectF(top.x() - width / 2, top.y(), width, cell.bottom() - top.y()),
                             theme.faded(color, 0.7));
        }
        if (has_room)
            drawColoredText(painter, QRectF(cell.left(), top.y() - 19, cell.width(), 16), Qt::AlignCenter,
                            shortValue(map, found->second.mean()), theme.text);
    }
}

void LengthMapView::paintPanel(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const {
    const LengthMap& map = *panel.map;
    painter.setPen(theme.text);
    const QString title =
        QString::fromStdString(panel.panel->label) +
        (maps_.size() > 1 ? QStringLiteral(", ") + QString::fromStdString(map.task) : QString());
    painter.drawText(
        QRectF(panel.cells.left(), panel.box.top(), panel.cells.width(), kTitle - 2), kLeftMiddle,
        painter.fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(panel.cells.width())));
    if (hasOneRow(map))
        paintSingleRow(painter, panel, theme);
    else
        paintCells(painter, panel, theme);
    paintRowLabels(painter, panel, theme);
    painter.setPen(QPen(theme.frame, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(panel.cells);
    painter.setPen(theme.faint_text);
    const double wide = panel.cell(0, 0).width();
    const auto every = static_cast<std::size_t>(std::ceil(20 / std::max(wide, 1.0)));
    for (std::size_t column = 0; column < map.lengths.size(); column += every)
        painter.drawText(QRectF(panel.cell(0, column).center().x() - 20, panel.cells.bottom() + 2, 40, 14),
                         Qt::AlignCenter, QString::number(map.lengths[column]));
    painter.drawText(QRectF(panel.cells.left(), panel.cells.bottom() + 16, panel.cells.width(), 16),
                     Qt::AlignCenter, axisText(map));
}

void LengthMapView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const std::vector<PlacedPanel> panels = placed(area);
    if (panels.empty()) return paintNote(painter, area, emptyText(), theme);
    for (const PlacedPanel& panel : panels)
        paintPanel(painter, panel, theme);
    if (hasColors()) paintColorBar(painter, area, theme);
}

void LengthMapView::paintColorBar(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const auto colors = theme.sequentialColors();
    const QRectF bar(area.right() - kColorBar + 8, area.top() + 6 + kTitle, 12,
                     std::min(220.0, area.height() - kTitle - 40));
    for (int i = 0; i < 100; ++i)
        painter.fillRect(QRectF(bar.left(), bar.bottom() - bar.height() * (i + 1) / 100, bar.width(),
                                bar.height() / 100 + 0.5),
                         QColor(colors[static_cast<std::size_t>(i * 255 / 99)]));
    painter.setPen(theme.faint_text);
    for (const double fraction : {0.0, 0.5, 1.0}) {
        const double mean = worst_ + fraction * (best_ - worst_);
        const QString text = shortValue(maps_.front(), mean) + (losses_ ? QString() : QStringLiteral(" %"));
        painter.drawText(QRectF(bar.right() + 4, bar.bottom() - bar.height() * fraction - 8, 40, 16),
                         kLeftMiddle, text);
    }
}

void LengthMapView::mouseMoveEvent(QMouseEvent* event) {
    for (const PlacedPanel& panel : placed(canvas())) {
        if (!panel.cells.contains(event->position())) continue;
        const LengthMap& map = *panel.map;
        const auto at = [](double pixel, double from, double size, std::size_t count) {
            return std::min(static_cast<std::size_t>((pixel - from) / size * static_cast<double>(count)),
                            count - 1);
        };
        const std::int64_t trained = map.trained[at(event->position().y(), panel.cells.top(),
                                                    panel.cells.height(), map.trained.size())];
        const std::int64_t length = map.lengths[at(event->position().x(), panel.cells.left(),
                                                   panel.cells.width(), map.lengths.size())];
        const auto found = panel.panel->cells.find({trained, length});
        const QString what = tr("%1, trained up to %2 %3, %4: ")
                                 .arg(QString::fromStdString(panel.panel->label))
                                 .arg(trained)
                                 .arg(unitOf(map), lengthText(map, length));
        return emit hovered(found == panel.panel->cells.end() ? what + tr("not measured")
                                                              : what + valueText(map, found->second));
    }
    emit hovered({});
}

QString LengthMapView::figureCaption() const {
    const QString line = tr("the heavy line separates lengths seen in training from longer ones");
    const QString rows = hasColors() ? tr(" and by training length (rows)") : QString();
    if (losses_)
        return tr("Mean loss in nats by the position of the token (up to the number below)%1; %2")
            .arg(rows, line);
    if (!maps_.empty() && maps_.front().metric == LengthMap::Metric::token_accuracy)
        return tr("Token accuracy, in %, by text length%1; %2").arg(rows, line);
    return tr("Share of problems solved, in %, by their length%1; %2")
        .arg(hasColors() ? tr(" and by the longest training problem (rows)") : QString(), line);
}

}  // namespace roper
