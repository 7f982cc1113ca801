#include "ui/compare/length_map_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "ui/shell/explain.h"
#include "ui/shell/theme.h"

namespace roper {
namespace {

constexpr double kTitle = 20, kBelow = 34, kLeft = 34, kGap = 12, kColorBar = 72;

QString unitOf(const std::string& task) {
    return task == "addition" ? LengthMapView::tr("digits") : LengthMapView::tr("letters");
}

/// Dark text on light cells and the reverse.
QColor textOn(QRgb cell) {
    return qGray(cell) > 140 ? QColor(Qt::black) : QColor(Qt::white);
}

}  // namespace

LengthMapView::LengthMapView(QWidget* parent) : FigureView(parent) {
    setAccessibleName(tr("Problems solved by their length and by the length of training"));
}

void LengthMapView::setMaps(std::vector<LengthMap> maps) {
    maps_ = std::move(maps);
    update();
}

void LengthMapView::setEmptyText(const QString& text) {
    empty_text_ = text;
    update();
}

QRectF LengthMapView::Placed::cell(std::size_t row, std::size_t column) const {
    const double width = cells.width() / static_cast<double>(map->lengths.size()),
                 height = cells.height() / static_cast<double>(map->trained.size());
    return {cells.left() + static_cast<double>(column) * width,
            cells.top() + static_cast<double>(row) * height, width, height};
}

/// Panels side by side, in as many rows as make them least narrow.
std::vector<LengthMapView::Placed> LengthMapView::placed(const QRectF& area) const {
    std::vector<Placed> all;
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
    for (const Placed& one : placed(rect())) {
        if (one.map != &maps_[map] || one.panel != &maps_[map].panels[panel]) continue;
        const auto row = std::find(one.map->trained.begin(), one.map->trained.end(), trained);
        const auto column = std::find(one.map->lengths.begin(), one.map->lengths.end(), length);
        if (row == one.map->trained.end() || column == one.map->lengths.end()) return {};
        return one.cell(static_cast<std::size_t>(row - one.map->trained.begin()),
                        static_cast<std::size_t>(column - one.map->lengths.begin()));
    }
    return {};
}

void LengthMapView::paintPanel(QPainter& painter, const Placed& panel, const Theme& theme) const {
    const auto colors = theme.sequentialColors();
    const LengthMap& map = *panel.map;
    painter.setPen(theme.text);
    const QString title =
        QString::fromStdString(panel.panel->label) +
        (maps_.size() > 1 ? QStringLiteral(", ") + QString::fromStdString(map.task) : QString());
    painter.drawText(
        QRectF(panel.cells.left(), panel.box.top(), panel.cells.width(), kTitle - 2),
        Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(title, Qt::ElideRight, static_cast<int>(panel.cells.width())));
    for (std::size_t row = 0; row < map.trained.size(); ++row) {
        for (std::size_t column = 0; column < map.lengths.size(); ++column) {
            const QRectF cell = panel.cell(row, column);
            const auto found = panel.panel->cells.find({map.trained[row], map.lengths[column]});
            if (found == panel.panel->cells.end()) continue;
            const double share = found->second.share();
            const QRgb color = colors[static_cast<std::size_t>(std::lround(share * 255))];
            painter.fillRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), QColor(color));
            if (cell.width() < 26 || cell.height() < 15) continue;
            painter.setPen(textOn(color));
            painter.drawText(cell, Qt::AlignCenter, QString::number(std::lround(100 * share)));
        }
        // What lies right of the line training has never shown.
        const auto beyond = std::upper_bound(map.lengths.begin(), map.lengths.end(), map.trained[row]);
        const double x = panel.cell(row, static_cast<std::size_t>(beyond - map.lengths.begin())).left();
        painter.setPen(QPen(Theme::method(QString::fromStdString(panel.panel->position)), 3, Qt::SolidLine,
                            Qt::FlatCap));
        painter.drawLine(QPointF(x, panel.cell(row, 0).top()), QPointF(x, panel.cell(row, 0).bottom()));
        painter.setPen(theme.faint_text);
        painter.drawText(
            QRectF(panel.box.left(), panel.cell(row, 0).top(), kLeft - 6, panel.cell(row, 0).height()),
            Qt::AlignRight | Qt::AlignVCenter, QString::number(map.trained[row]));
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
                     Qt::AlignCenter, tr("%1 of the problem; rows: of training").arg(unitOf(map.task)));
}

void LengthMapView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const std::vector<Placed> panels = placed(area);
    if (panels.empty()) {
        painter.setPen(theme.faint_text);
        painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
        return;
    }
    for (const Placed& panel : panels)
        paintPanel(painter, panel, theme);
    const auto colors = theme.sequentialColors();
    const QRectF bar(area.right() - kColorBar + 8, area.top() + 6 + kTitle, 12,
                     std::min(220.0, area.height() - kTitle - 40));
    for (int i = 0; i < 100; ++i)
        painter.fillRect(QRectF(bar.left(), bar.bottom() - bar.height() * (i + 1) / 100, bar.width(),
                                bar.height() / 100 + 0.5),
                         QColor(colors[static_cast<std::size_t>(i * 255 / 99)]));
    painter.setPen(theme.faint_text);
    for (const int percent : {0, 50, 100})
        painter.drawText(QRectF(bar.right() + 4, bar.bottom() - bar.height() * percent / 100 - 8, 40, 16),
                         Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("%1 %").arg(percent));
}

void LengthMapView::mouseMoveEvent(QMouseEvent* event) {
    for (const Placed& panel : placed(rect())) {
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
        const QString what = tr("%1, trained up to %2 %3, problems of %4: ")
                                 .arg(QString::fromStdString(panel.panel->label))
                                 .arg(trained)
                                 .arg(unitOf(map.task))
                                 .arg(length);
        return emit pointed(found == panel.panel->cells.end()
                                ? what + tr("not measured")
                                : what + tr("%1 of %2 solved (%3 %) by %4")
                                             .arg(found->second.correct)
                                             .arg(found->second.of)
                                             .arg(fixedNumber(100 * found->second.share(), 1),
                                                  counted(found->second.runs, tr("run"))));
    }
    emit pointed({});
}

QString LengthMapView::figureCaption() const {
    return tr(
        "Share of problems solved, in %, by their length and by the longest problem of training (rows); the "
        "heavy "
        "line parts what training has shown from what it has not");
}

}  // namespace roper
