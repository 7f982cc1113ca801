#include "ui/pages/compare/board_view.h"

#include <QMouseEvent>

#include "ui/charts/csv_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr double kBoardTop = 30, kBoardGap = 14, kBoardMargin = 16, kBoardFoot = 18;
constexpr double kWide = 760, kAllWords = 960;  // minimum widths for longer texts

/// Left edges of the columns, relative to the width; the column of methods is at 0.
struct Columns {
    bool is_wide;
    double target, ours, runs, time;
};

Columns columnsOf(double width) {
    return width >= kWide ? Columns{true, 0.10, 0.36, 0.48, 0.78} : Columns{false, 0.13, 0.27, 0.43, 0.75};
}

double footHeight(const QRectF& area) {
    return (area.width() >= kWide ? 1 : 2) * kBoardFoot + 8;
}

QRectF rowBox(const QRectF& area, std::size_t index) {
    const double height = (area.height() - kBoardTop - footHeight(area)) / 3;
    return {area.left() + kBoardMargin, area.top() + kBoardTop + static_cast<double>(index) * height,
            area.width() - 2 * kBoardMargin, height - kBoardGap};
}

QString resultText(const BoardRow& row, double value) {
    return fixedNumberText(value, infoOf(row.measure).higher_is_better ? 2 : 4);
}

}  // namespace

BoardView::BoardView(QWidget* parent)
    : FigureView(parent, QStringLiteral("board"), tr("The RoPER note's table and ours")) {}

void BoardView::paintCell(QPainter& painter, const BoardRow& row, const BoardCell& cell, const QRectF& box,
                          const Theme& theme) const {
    const QColor color = Theme::method(cell.position);
    const Columns columns = columnsOf(box.width() + 2 * kBoardMargin);
    const auto at = [&](double from, double to) {
        return QRectF(box.left() + from * box.width(), box.top(), (to - from) * box.width() - 6,
                      box.height());
    };
    const auto text = [&](const QRectF& where, const QColor& pen, const QString& words) {
        drawColoredText(painter, where, kLeftMiddle, words, pen);
    };
    const QFont plain = painter.font(), bold = boldFont(plain);
    painter.setFont(bold);
    text(at(0, columns.target), theme.readable(color),
         QString::fromStdString(positionMethod(cell.position).title));
    painter.setFont(plain);
    QString target = resultText(row, cell.target);
    if (cell.alternative_target && columns.is_wide)
        target += tr("  (another copy: %1)").arg(resultText(row, *cell.alternative_target));
    text(at(columns.target, columns.ours), theme.text, target);
    painter.setFont(bold);
    text(at(columns.ours, columns.runs), cell.mean ? theme.text : theme.faint_text,
         cell.mean ? resultText(row, *cell.mean) : QStringLiteral("–"));
    if (cell.mean && static_cast<int>(cell.finished.size()) < row.target.runs) {
        const double used = painter.fontMetrics().horizontalAdvance(resultText(row, *cell.mean)) + 6;
        painter.setFont(plain);
        text(at(columns.ours, columns.runs).adjusted(used, 0, 0, 0), theme.faint_text,
             tr("of %1").arg(cell.finished.size()));
    }
    painter.setFont(plain);
    const QRectF runs = at(columns.runs, columns.time);
    const double side = std::min(15.0, runs.width() / row.target.runs - 4);
    const auto finished = static_cast<int>(cell.finished.size()),
               failed = static_cast<int>(cell.failed.size()), open = static_cast<int>(cell.unfinished.size());
    for (int run = 0; run < row.target.runs; ++run) {
        const QRectF square(runs.left() + run * (side + 4), runs.center().y() - side / 2, side, side);
        const bool is_finished = run < finished, has_failed = !is_finished && run < finished + failed,
                   is_open = !is_finished && !has_failed && run < finished + failed + open;
        painter.setPen(QPen(is_finished || has_failed || is_open ? color : theme.frame, 1.2));
        painter.setBrush(is_finished ? QBrush(color)
                         : is_open   ? QBrush(theme.faded(color, 0.35))
                                     : QBrush(Qt::NoBrush));
        painter.drawRect(square);
        if (!has_failed) continue;
        painter.drawLine(square.topLeft(), square.bottomRight());
        painter.drawLine(square.topRight(), square.bottomLeft());
    }
    text(at(columns.time, 1.0), theme.text,
         finished + failed == row.target.runs ? tr("done")
         : cell.remaining_seconds             ? tr("%1 left here").arg(shortDuration(*cell.remaining_seconds))
         : columns.is_wide                    ? tr("speed not measured")
                                              : tr("not measured"));
}

void BoardView::paintRow(QPainter& painter, const BoardRow& row, const QRectF& box,
                         const Theme& theme) const {
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(box.topLeft(), box.topRight());
    const QFont plain = painter.font();
    painter.setFont(scaledFont(plain, 1.15));
    const double line = box.height() / 3;
    drawColoredText(painter, QRectF(box.left(), box.top(), box.width(), line), kLeftMiddle,
                    QString::fromStdString(row.target.title), theme.text);
    painter.setFont(plain);
    for (std::size_t i = 0; i < row.cells.size(); ++i)
        paintCell(painter, row, row.cells[i],
                  QRectF(box.left(), box.top() + line * static_cast<double>(i + 1), box.width(), line),
                  theme);
}

void BoardView::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    const QRectF first = rowBox(area, 0);
    painter.setPen(theme.faint_text);
    const Columns columns = columnsOf(area.width());
    const std::pair<double, QString> heads[] = {
        {columns.target, tr("source")},
        {columns.ours, tr("ours")},
        {columns.runs,
         area.width() >= kAllWords ? tr("runs: finished, failed, started, missing") : tr("runs")},
        {columns.time, tr("time needed")}};
    for (const auto& [left, words] : heads)
        painter.drawText(
            QRectF(first.left() + left * first.width(), area.top() + 4, 0.3 * first.width(), kBoardTop - 8),
            kLeftMiddle, words);
    painter.drawText(area.adjusted(kBoardMargin, 0, -kBoardMargin, -6),
                     Qt::AlignLeft | Qt::AlignBottom | Qt::TextWordWrap,
                     tr("source: mean of the best nine of ten runs (Harik & Jayasiri 2022); ours: the same "
                        "for the runs so far"));
    for (std::size_t i = 0; i < rows_.size(); ++i)
        paintRow(painter, rows_[i], rowBox(area, i), theme);
}

void BoardView::mouseMoveEvent(QMouseEvent* event) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const QRectF box = rowBox(canvas(), i);
        if (!box.contains(event->position())) continue;
        const double line = (event->position().y() - box.top()) / (box.height() / 3);
        if (line < 1)
            return emit hovered(tr("preset %1").arg(QString::fromStdString(rows_[i].target.preset)));
        const BoardCell& cell = rows_[i].cells[line < 2 ? 0 : 1];
        QString text = tr("%1, %2: %3 finished, %4 failed, %5 started, %6 missing")
                           .arg(QString::fromStdString(rows_[i].target.title),
                                QString::fromStdString(positionMethod(cell.position).title))
                           .arg(cell.finished.size())
                           .arg(cell.failed.size())
                           .arg(cell.unfinished.size())
                           .arg(cell.missing.size());
        if (cell.seconds_per_step)
            text += tr("; a step takes %1 s here").arg(numberText(*cell.seconds_per_step, 4));
        return emit hovered(text);
    }
    emit hovered({});
}

QString BoardView::figureCsv() const {
    CsvText csv(
        QStringLiteral("preset,method,target,other_target,mean,finished,failed,begun,missing,seconds_a_step,"
                       "seconds_left"));
    for (const BoardRow& row : rows_)
        for (const BoardCell& c : row.cells)
            csv.line(row.target.preset, c.position, c.target, c.alternative_target, c.mean, c.finished.size(),
                     c.failed.size(), c.unfinished.size(), c.missing.size(), c.seconds_per_step,
                     c.remaining_seconds);
    return csv.text();
}

QString BoardView::figureCaption() const {
    return tr(
        "The RoPER note's table (Harik & Jayasiri 2022; ten runs per method, the worst dropped) and ours");
}

}  // namespace roper
