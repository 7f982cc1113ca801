#include "ui/pages/training/element_grid_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <map>

#include "ui/charts/csv_text.h"

namespace roper {
namespace {

constexpr double kMargin = 10, kLegendRow = 20, kSwatch = 12, kGap = 2, kMostSide = 36;

constexpr std::array kStages{Stage::finished,   Stage::running,       Stage::waiting, Stage::failed,
                             Stage::unfinished, Stage::not_submitted, Stage::unknown};

QColor colorOf(Stage stage, const Theme& theme) {
    switch (stage) {
        case Stage::finished:
            return Theme::value();
        case Stage::running:
            return Theme::query();
        case Stage::failed:
            return QColor(0xC6, 0x28, 0x28);
        case Stage::unfinished:
            return Theme::key();
        case Stage::waiting:
        case Stage::not_submitted:
        case Stage::unknown:
            break;
    }
    return theme.frame;
}

QString stageTitle(Stage stage) {
    return QString::fromUtf8(nameOf(stage));
}

/// A frame in the colour of the stage, filled from below in proportion to the progress. So that runs differ
/// by more than colour, failed ones are crossed, and those not submitted or of unknown state are dotted.
void paintCell(QPainter& painter, const QRectF& cell, Stage stage, double progress, const Theme& theme) {
    const QColor color = colorOf(stage, theme);
    painter.setPen(QPen(
        color, 1.2, stage == Stage::not_submitted || stage == Stage::unknown ? Qt::DotLine : Qt::SolidLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(cell);
    const double height = cell.height() * progress;
    painter.fillRect(QRectF(cell.left(), cell.bottom() - height, cell.width(), height), color);
    if (stage != Stage::failed) return;
    painter.setPen(QPen(color, 1.6));
    painter.drawLine(cell.topLeft(), cell.bottomRight());
    painter.drawLine(cell.topRight(), cell.bottomLeft());
}

}  // namespace

ElementGridView::ElementGridView(QWidget* parent)
    : FigureView(parent, QStringLiteral("cluster"), tr("Runs on the cluster")) {}

void ElementGridView::show(const std::vector<SweepElement>& elements) {
    redrawWith(elements_, elements);
    setAccessibleDescription(QString::fromStdString(summaryOf(elements_)));
}

namespace {

/// "finished (120)" for every stage that occurs.
std::vector<std::pair<Stage, QString>> legendOf(const std::vector<SweepElement>& elements) {
    std::map<Stage, int> counts;
    for (const SweepElement& one : elements)
        ++counts[one.stage()];
    std::vector<std::pair<Stage, QString>> legend;
    for (const Stage stage : kStages)
        if (counts[stage] > 0)
            legend.emplace_back(stage,
                                ElementGridView::tr("%1 (%2)").arg(stageTitle(stage)).arg(counts[stage]));
    return legend;
}

/// Calls `place` with the top left corner of every entry, wrapping lines as needed. @returns the total height
double layOut(const std::vector<std::pair<Stage, QString>>& legend, const QFontMetricsF& metrics,
              double width, const std::function<void(const QPointF&, Stage, const QString&)>& place) {
    double x = 0, y = 0;
    for (const auto& [stage, text] : legend) {
        const double needed = kSwatch + 6 + metrics.horizontalAdvance(text);
        if (x > 0 && x + needed > width) {
            x = 0;
            y += kLegendRow;
        }
        place({x, y}, stage, text);
        x += needed + 14;
    }
    return y + kLegendRow;
}

}  // namespace

double ElementGridView::legendHeight(const QFontMetricsF& metrics, double width) const {
    return layOut(legendOf(elements_), metrics, width, [](const QPointF&, Stage, const QString&) {});
}

/// The largest cell size with which all cells fit.
ElementGridView::Grid ElementGridView::gridIn(const QRectF& area) const {
    const QRectF box = area.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    const double legend = legendHeight(QFontMetricsF(Zoom::instance().pictureFont()), box.width()) + 6;
    Grid grid{box.adjusted(0, legend, 0, 0), kMostSide, 1};
    const auto count = static_cast<double>(std::max<std::size_t>(1, elements_.size()));
    for (;; grid.side -= 0.5) {
        grid.columns = std::max(1, static_cast<int>((grid.cells.width() + kGap) / (grid.side + kGap)));
        const double rows = std::ceil(count / grid.columns);
        if (rows * (grid.side + kGap) <= grid.cells.height() + kGap || grid.side <= 3) return grid;
    }
}

QRectF ElementGridView::cellOf(const Grid& grid, std::size_t element) const {
    const auto columns = static_cast<std::size_t>(grid.columns);
    const double step = grid.side + kGap;
    return {grid.cells.left() + step * static_cast<double>(element % columns),
            grid.cells.top() + step * static_cast<double>(element / columns), grid.side, grid.side};
}

QRectF ElementGridView::cellRect(std::size_t element) const {
    return element < elements_.size() ? cellOf(gridIn(canvas()), element) : QRectF();
}

void ElementGridView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const QRectF box = area.adjusted(kMargin, kMargin, -kMargin, -kMargin);
    if (elements_.empty()) return paintNote(painter, box, emptyText(), theme);
    layOut(legendOf(elements_), QFontMetricsF(Zoom::instance().pictureFont()), box.width(),
           [&](const QPointF& at, Stage stage, const QString& text) {
               const QRectF line(box.topLeft() + at, QSizeF(box.width() - at.x(), kLegendRow));
               const double filled = stage == Stage::finished                                ? 1
                                     : stage == Stage::running || stage == Stage::unfinished ? 0.6
                                                                                             : 0;
               paintCell(painter, QRectF(line.left(), line.center().y() - kSwatch / 2, kSwatch, kSwatch),
                         stage, filled, theme);
               writeText(painter, line.adjusted(kSwatch + 6, 0, 0, 0), kLeftMiddle, text, theme.text);
           });
    const Grid grid = gridIn(area);
    for (std::size_t i = 0; i < elements_.size(); ++i) {
        const QRectF cell = cellOf(grid, i);
        paintCell(painter, cell, elements_[i].stage(), elements_[i].progress(), theme);
        if (std::find(chosen_.begin(), chosen_.end(), elements_[i].run) != chosen_.end())
            paintFrame(painter, cell, theme);
    }
}

std::optional<std::size_t> ElementGridView::elementAt(const QPointF& place) const {
    const Grid grid = gridIn(canvas());
    for (std::size_t i = 0; i < elements_.size(); ++i)
        if (cellOf(grid, i).contains(place)) return i;
    return std::nullopt;
}

void ElementGridView::mouseMoveEvent(QMouseEvent* event) {
    const auto element = elementAt(event->position());
    if (!element) return emit pointed({});
    const SweepElement& one = elements_[*element];
    emit pointed(QString::fromStdString(one.run + ": " + one.describe()));
}

void ElementGridView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const auto element = elementAt(event->position()))
        emit clicked(QString::fromStdString(elements_[*element].run));
}

QString ElementGridView::figureCsv() const {
    CsvText csv(QStringLiteral("run,stage,step,steps,element,node,reason"));
    for (const SweepElement& one : elements_) {
        const SlurmElement element = one.element.value_or(SlurmElement{});
        csv.line(one.run, stageTitle(one.stage()), one.status.step, one.status.steps,
                 one.element ? element.id() : std::string(), element.node,
                 QString::fromStdString(element.reason).replace(',', ';'));
    }
    return csv.text();
}

QString ElementGridView::figureCaption() const {
    return QString::fromStdString(summaryOf(elements_));
}

}  // namespace roper
