#include "ui/pages/compare/length_map_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/theme/numbers.h"
#include "ui/theme/theme.h"

namespace roper {
namespace {

constexpr double kTitle = 20, kBelow = 34, kLeft = 34, kGap = 12, kColorBar = 72;

QString unitOf(const LengthMap& map) {
    if (map.metric != LengthMap::Metric::solved) return LengthMapView::tr("tokens");
    return QString::fromStdString(taskKind(map.task).length_unit);
}

QString axisText(const LengthMap& map) {
    if (map.metric == LengthMap::Metric::loss)
        return LengthMapView::tr("position, up to (rows: training length)");
    if (map.metric == LengthMap::Metric::token_accuracy)
        return LengthMapView::tr("tokens (rows: training length)");
    return LengthMapView::tr("%1 (rows: training length)").arg(unitOf(map));
}

/// "73" for a share, "3.41" for a loss.
QString shortValue(const LengthMap& map, double mean) {
    return map.metric == LengthMap::Metric::loss ? fixedNumberText(mean, 2)
                                                 : QString::number(std::lround(100 * mean));
}

QString placeText(const LengthMap& map, std::int64_t length) {
    if (map.metric == LengthMap::Metric::loss)
        return length == 1 ? LengthMapView::tr("position 0")
                           : LengthMapView::tr("positions %1 to %2").arg(length / 2).arg(length - 1);
    if (map.metric == LengthMap::Metric::token_accuracy)
        return LengthMapView::tr("sequences of %1").arg(length);
    return LengthMapView::tr("problems of %1").arg(length);
}

QString valueText(const LengthMap& map, const LengthMap::Cell& cell) {
    const QString by = countText(cell.runs, LengthMapView::tr("run"));
    if (map.metric == LengthMap::Metric::loss)
        return LengthMapView::tr("loss %1 nats, mean of %2").arg(fixedNumberText(cell.mean(), 4), by);
    const bool solved = map.metric == LengthMap::Metric::solved;
    return LengthMapView::tr("%1 of %2 %3 (%4 %) by %5")
        .arg(std::lround(cell.sum))
        .arg(cell.of)
        .arg(solved ? LengthMapView::tr("solved") : LengthMapView::tr("right"),
             fixedNumberText(100 * cell.mean(), 1), by);
}

/// Dark text on light cells, light text on dark cells.
QColor textOn(QRgb cell) {
    return qGray(cell) > 140 ? QColor(Qt::black) : QColor(Qt::white);
}

}  // namespace

LengthMapView::LengthMapView(QWidget* parent)
    : FigureView(parent, {}, tr("Problems solved by their length and by training length")) {}

void LengthMapView::setMaps(std::vector<LengthMap> maps, bool losses) {
    maps_ = std::move(maps);
    losses_ = losses;
    worst_ = 0;
    best_ = 1;
    if (losses_ && !maps_.empty()) {  // losses have no worst value, so the colours span the data
        worst_ = -std::numeric_limits<double>::infinity();
        best_ = -worst_;
        for (const LengthMap& map : maps_)
            for (const LengthMap::Panel& panel : map.panels)
                for (const auto& [place, cell] : panel.cells) {
                    if (!std::isfinite(cell.mean())) continue;
                    worst_ = std::max(worst_, cell.mean());
                    best_ = std::min(best_, cell.mean());
                }
    }
    update();
}

double LengthMapView::goodness(double mean) const {
    if (worst_ == best_) return 1;
    const double part = (mean - worst_) / (best_ - worst_);
    return std::isfinite(part) ? std::clamp(part, 0.0, 1.0) : 0;
}

QRectF LengthMapView::PlacedPanel::cell(std::size_t row, std::size_t column) const {
    const double width = cells.width() / static_cast<double>(map->lengths.size()),
                 height = cells.height() / static_cast<double>(map->trained.size());
    return {cells.left() + static_cast<double>(column) * width,
            cells.top() + static_cast<double>(row) * height, width, height};
}

/// Panels next to each other, in the number of rows that makes them least narrow.
std::vector<LengthMapView::PlacedPanel> LengthMapView::placed(const QRectF& area) const {
    std::vector<PlacedPanel> all;
    for (const LengthMap& map : maps_)
        for (const LengthMap::Panel& panel : map.panels)
            all.push_back({&map, &panel, {}, {}});
    if (all.empty()) return all;
    constexpr double kBestShape = 1.6;  // width over height of a panel
    const QRectF room = area.adjusted(6, 6, -kColorBar - 6, -6);
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
        const auto row = std::find(one.map->trained.begin(), one.map->trained.end(), trained);
        const auto column = std::find(one.map->lengths.begin(), one.map->lengths.end(), length);
        if (row == one.map->trained.end() || column == one.map->lengths.end()) return {};
        return one.cell(static_cast<std::size_t>(row - one.map->trained.begin()),
                        static_cast<std::size_t>(column - one.map->lengths.begin()));
    }
    return {};
}

void LengthMapView::paintPanel(QPainter& painter, const PlacedPanel& panel, const Theme& theme) const {
    const auto colors = theme.sequentialColors();
    const LengthMap& map = *panel.map;
    painter.setPen(theme.text);
    const QString title =
        QString::fromStdString(panel.panel->label) +
        (maps_.size() > 1 ? QStringLiteral(", ") + QString::fromStdString(map.task) : QString());
    painter.drawText(
        QRectF(panel.cells.left(), panel.box.top(), panel.cells.width(), kTitle - 2), kLeftMiddle,
        painter.fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(panel.cells.width())));
    for (std::size_t row = 0; row < map.trained.size(); ++row) {
        for (std::size_t column = 0; column < map.lengths.size(); ++column) {
            const QRectF cell = panel.cell(row, column);
            const auto found = panel.panel->cells.find({map.trained[row], map.lengths[column]});
            if (found == panel.panel->cells.end()) continue;
            const double mean = found->second.mean();
            const QRgb color = colors[static_cast<std::size_t>(std::lround(goodness(mean) * 255))];
            painter.fillRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), QColor(color));
            if (cell.width() < 26 || cell.height() < 15) continue;
            drawColoredText(painter, cell, Qt::AlignCenter, shortValue(map, mean), textOn(color));
        }
        // Lengths right of this line do not occur in training.
        const auto beyond = std::upper_bound(map.lengths.begin(), map.lengths.end(), map.trained[row]);
        const double x = panel.cell(row, static_cast<std::size_t>(beyond - map.lengths.begin())).left();
        painter.setPen(QPen(Theme::method(panel.panel->position), 3, Qt::SolidLine, Qt::FlatCap));
        painter.drawLine(QPointF(x, panel.cell(row, 0).top()), QPointF(x, panel.cell(row, 0).bottom()));
        drawColoredText(
            painter,
            QRectF(panel.box.left(), panel.cell(row, 0).top(), kLeft - 6, panel.cell(row, 0).height()),
            kRightMiddle, QString::number(map.trained[row]), theme.faint_text);
    }
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
    paintColorBar(painter, area, theme);
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
    for (const double part : {0.0, 0.5, 1.0}) {
        const double mean = worst_ + part * (best_ - worst_);
        const QString text = shortValue(maps_.front(), mean) + (losses_ ? QString() : QStringLiteral(" %"));
        painter.drawText(QRectF(bar.right() + 4, bar.bottom() - bar.height() * part - 8, 40, 16), kLeftMiddle,
                         text);
    }
}

void LengthMapView::mouseMoveEvent(QMouseEvent* event) {
    for (const PlacedPanel& panel : placed(canvas())) {
        if (!panel.cells.contains(event->position())) continue;
        const LengthMap& map = *panel.map;
        const auto at = [](double place, double from, double size, std::size_t count) {
            return std::min(static_cast<std::size_t>((place - from) / size * static_cast<double>(count)),
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
                                 .arg(unitOf(map), placeText(map, length));
        return emit hovered(found == panel.panel->cells.end() ? what + tr("not measured")
                                                              : what + valueText(map, found->second));
    }
    emit hovered({});
}

QString LengthMapView::figureCaption() const {
    const QString line = tr("the heavy line separates lengths seen in training from longer ones");
    if (losses_)
        return tr("Mean loss in nats by the position of the token (up to the number below) and by training "
                  "length (rows); %1")
            .arg(line);
    if (!maps_.empty() && maps_.front().metric == LengthMap::Metric::token_accuracy)
        return tr("Token accuracy, in %, by text length and by training length (rows); %1").arg(line);
    return tr("Share of problems solved, in %, by their length and by the longest training problem (rows); "
              "%1")
        .arg(line);
}

}  // namespace roper
