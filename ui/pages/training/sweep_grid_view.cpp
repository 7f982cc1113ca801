#include "ui/pages/training/sweep_grid_view.h"

#include <QMap>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/text.h"
#include "ui/charts/csv_text.h"

namespace roper {
namespace {

constexpr double kMargin = 10, kLegendRow = 20, kSwatch = 12, kGap = 2, kMaxSide = 36;  // pixels

/// In the order of the legend.
constexpr std::array kStages{SweepRunStage::finished, SweepRunStage::running,    SweepRunStage::waiting,
                             SweepRunStage::failed,   SweepRunStage::unfinished, SweepRunStage::not_submitted,
                             SweepRunStage::unknown};

QColor colorOf(SweepRunStage stage, const Theme& theme) {
    static const QMap<SweepRunStage, QColor> colors = {{SweepRunStage::finished, Theme::value()},
                                                       {SweepRunStage::running, Theme::query()},
                                                       {SweepRunStage::failed, QColor(0xC6, 0x28, 0x28)},
                                                       {SweepRunStage::unfinished, Theme::key()}};
    return colors.value(stage, theme.frame);
}

QString stageTitle(SweepRunStage stage) {
    return QString::fromUtf8(nameOf(stage));
}

/// A frame in the color of the stage, filled from below in proportion to the progress (0 to 1). So that
/// stages differ by more than color, failed runs are crossed, and those not submitted or of unknown state
/// dotted.
void paintCell(QPainter& painter, const QRectF& cell, SweepRunStage stage, double progress,
               const Theme& theme) {
    const QColor color = colorOf(stage, theme);
    painter.setPen(QPen(color, 1.2,
                        stage == SweepRunStage::not_submitted || stage == SweepRunStage::unknown
                            ? Qt::DotLine
                            : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(cell);
    const double height = cell.height() * progress;
    painter.fillRect(QRectF(cell.left(), cell.bottom() - height, cell.width(), height), color);
    if (stage != SweepRunStage::failed) return;
    painter.setPen(QPen(color, 1.6));
    painter.drawLine(cell.topLeft(), cell.bottomRight());
    painter.drawLine(cell.topRight(), cell.bottomLeft());
}

struct LegendEntry {
    SweepRunStage stage;
    QString text;  ///< "finished (120)"
    QPointF at;    ///< top left corner, within the legend
};

/// An entry for every stage that occurs, in lines of this width.
std::vector<LegendEntry> legendOf(const std::vector<SweepRunStatus>& runs, double width) {
    std::map<SweepRunStage, int> counts;
    for (const SweepRunStatus& one : runs)
        ++counts[one.stage()];
    const QFontMetricsF metrics(Zoom::instance().figureFont());
    std::vector<LegendEntry> legend;
    double x = 0, y = 0;
    for (const SweepRunStage stage : kStages) {
        if (counts[stage] == 0) continue;
        const QString text = SweepGridView::tr("%1 (%2)").arg(stageTitle(stage)).arg(counts[stage]);
        const double needed = kSwatch + 6 + metrics.horizontalAdvance(text);
        if (x > 0 && x + needed > width) {
            x = 0;
            y += kLegendRow;
        }
        legend.push_back({stage, text, {x, y}});
        x += needed + 14;
    }
    return legend;
}

}  // namespace

SweepGridView::SweepGridView(QWidget* parent)
    : FigureView(parent, QStringLiteral("cluster"), tr("Runs on the cluster")) {}

void SweepGridView::show(const std::vector<SweepRunStatus>& runs) {
    setAndUpdate(runs_, runs);
    setAccessibleDescription(QString::fromStdString(summaryOf(runs_)));
}

/// The largest cell size with which all cells fit.
SweepGridView::Grid SweepGridView::gridIn(const QRectF& area) const {
    const QRectF box = area.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    const std::vector<LegendEntry> legend = legendOf(runs_, box.width());
    const double last_row = legend.empty() ? 0 : legend.back().at.y();
    Grid grid{box.adjusted(0, last_row + kLegendRow + 6, 0, 0), kMaxSide, 1};
    const auto count = static_cast<double>(std::max<std::size_t>(1, runs_.size()));
    for (;; grid.side -= 0.5) {
        grid.columns = std::max(1, static_cast<int>((grid.cells.width() + kGap) / (grid.side + kGap)));
        const double rows = std::ceil(count / grid.columns);
        if (rows * (grid.side + kGap) <= grid.cells.height() + kGap || grid.side <= 3) return grid;
    }
}

QRectF SweepGridView::cellOf(const Grid& grid, std::size_t cell) const {
    const auto columns = static_cast<std::size_t>(grid.columns);
    const double step = grid.side + kGap;
    return {grid.cells.left() + step * static_cast<double>(cell % columns),
            grid.cells.top() + step * static_cast<double>(cell / columns), grid.side, grid.side};
}

QRectF SweepGridView::cellRect(std::size_t cell) const {
    return cell < runs_.size() ? cellOf(gridIn(canvas()), cell) : QRectF();
}

void SweepGridView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const QRectF box = area.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    if (runs_.empty()) return paintNote(painter, box, emptyText(), theme);
    for (const auto& [stage, text, at] : legendOf(runs_, box.width())) {
        const QRectF line(box.topLeft() + at, QSizeF(box.width() - at.x(), kLegendRow));
        const bool is_partial = stage == SweepRunStage::running || stage == SweepRunStage::unfinished;
        const double filled = stage == SweepRunStage::finished ? 1 : is_partial ? 0.6 : 0;
        paintCell(painter, QRectF(line.left(), line.center().y() - kSwatch / 2, kSwatch, kSwatch), stage,
                  filled, theme);
        drawColoredText(painter, line.adjusted(kSwatch + 6, 0, 0, 0), kLeftMiddle, text, theme.text);
    }
    const Grid grid = gridIn(area);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
        const QRectF cell = cellOf(grid, i);
        paintCell(painter, cell, runs_[i].stage(), runs_[i].progress(), theme);
        if (hasElement(chosen_, runs_[i].run)) paintFrame(painter, cell, theme);
    }
}

std::optional<std::size_t> SweepGridView::cellAt(const QPointF& place) const {
    const Grid grid = gridIn(canvas());
    for (std::size_t i = 0; i < runs_.size(); ++i)
        if (cellOf(grid, i).contains(place)) return i;
    return std::nullopt;
}

void SweepGridView::mouseMoveEvent(QMouseEvent* event) {
    const auto cell = cellAt(event->position());
    if (!cell) return emit hovered({});
    const SweepRunStatus& one = runs_[*cell];
    emit hovered(QString::fromStdString(one.run + ": " + one.describe()));
}

void SweepGridView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto cell = cellAt(event->position())) emit clicked(QString::fromStdString(runs_[*cell].run));
}

QString SweepGridView::figureCsv() const {
    CsvText csv(QStringLiteral("run,stage,step,steps,element,node,reason"));
    for (const SweepRunStatus& one : runs_) {
        const SlurmArrayTask array_task = one.array_task.value_or(SlurmArrayTask{});
        csv.line(one.run, stageTitle(one.stage()), one.status.step, one.status.steps,
                 one.array_task ? array_task.id() : std::string(), array_task.node,
                 QString::fromStdString(array_task.reason).replace(',', ';'));
    }
    return csv.text();
}

QString SweepGridView::figureCaption() const {
    return QString::fromStdString(summaryOf(runs_));
}

}  // namespace roper
