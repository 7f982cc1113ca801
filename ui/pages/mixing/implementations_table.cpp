#include "ui/pages/mixing/implementations_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/export_dialog.h"
#include "ui/controls/layout_helpers.h"

namespace roper {
namespace {

struct TableColumn {
    const char* header;
    double width;  ///< fraction of the width of the table
};
constexpr TableColumn kTableColumns[] = {
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "implementation"), 0.27},
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "year"), 0.06},
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "pairs"), 0.14},
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "rotated features"), 0.23},
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "rotated back"), 0.12},
    {QT_TRANSLATE_NOOP("roper::ImplementationsTable", "keys shared"), 0.18}};

constexpr double kWideTable = 780;  // pixels; narrower figures have fewer columns

/// The bundled ones, read when first needed. @throws Error
const std::vector<Implementation>& implementations() {
    static const std::vector<Implementation> all = bundledImplementations();
    return all;
}

QStringList columnTitles() {
    QStringList titles;
    for (const TableColumn& column : kTableColumns)
        titles << ImplementationsTable::tr(column.header);
    return titles;
}

QString fromText(const std::string& text) {
    return QString::fromStdString(text);
}

QString backText(const Implementation& one) {
    if (one.back == "never") return ImplementationsTable::tr("never");
    if (one.back == "twice") return ImplementationsTable::tr("once, values twice");
    return ImplementationsTable::tr("yes");
}

QStringList cellsOf(const Implementation& one) {
    return {QStringLiteral("%1, %2").arg(fromText(one.name), fromText(one.version)),
            QString::number(one.year),
            fromText(one.pairing),
            fromText(one.part),
            backText(one),
            fromText(one.shared_keys)};
}

QString toolTipOf(const Implementation& one) {
    return ImplementationsTable::tr("Cache: %1\nScaling: %2\n%3: %4\n%5")
        .arg(fromText(one.cache), fromText(one.scaling),
             one.was_run ? ImplementationsTable::tr("Measured; source")
                         : ImplementationsTable::tr("Source read"),
             fromText(one.source),
             one.settings.empty() ? ImplementationsTable::tr("Cannot be shown here")
                                  : ImplementationsTable::tr("Click to show one of its heads"));
}

}  // namespace

ImplementationsTable::ImplementationsTable(AttentionState& state, QWidget* parent)
    : QTableWidget(0, static_cast<int>(std::size(kTableColumns)), parent), state_(state) {
    setHorizontalHeaderLabels(columnTitles());
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setWordWrap(true);
    verticalHeader()->hide();
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    setAccessibleName(tr("Published implementations that rotate values"));
    setToolTip(tr("Click an implementation to show how one of its heads mixes values"));
    connect(this, &QTableWidget::cellClicked, this, &ImplementationsTable::choose);
    connect(this, &QTableWidget::cellActivated, this, &ImplementationsTable::choose);  // by Return
}

void ImplementationsTable::fill() {
    setRowCount(static_cast<int>(implementations().size()));
    for (int row = 0; row < rowCount(); ++row) {
        const Implementation& one = implementations()[static_cast<std::size_t>(row)];
        const QStringList cells = cellsOf(one);
        for (int column = 0; column < columnCount(); ++column) {
            auto* cell = new QTableWidgetItem(cells[column]);
            cell->setToolTip(toolTipOf(one));
            setItem(row, column, cell);
        }
    }
    resizeRowsToContents();
}

void ImplementationsTable::choose(int row) {
    const Implementation& one = implementations()[static_cast<std::size_t>(row)];
    const QString name = cellsOf(one).front();
    if (one.settings.empty()) {
        emit reported(
            tr("%1 cannot be shown here: its positions are not whole numbers along one axis").arg(name));
        return;
    }
    emit implementationChosen(one);
    emit reported(tr("%1: values rotated %2")
                      .arg(name, one.back == "never"   ? tr("and never back")
                                 : one.back == "twice" ? tr("twice, and back once")
                                                       : tr("and back")));
}

void ImplementationsTable::showRows() {
    if (rowCount() == 0) fill();
    const auto isShown = [&](int row) {
        return implementations()[static_cast<std::size_t>(row)].isShownBy(state_.setup());
    };
    if (currentRow() >= 0 && isShown(currentRow())) return;  // several rows may rotate alike
    int shown = 0;
    while (shown < rowCount() && !isShown(shown))
        ++shown;
    if (shown < rowCount()) {
        selectRow(shown);
    } else {
        clearSelection();
        setCurrentCell(-1, -1);
    }
}

void ImplementationsTable::contextMenuEvent(QContextMenuEvent* event) {
    showExportMenu(*this, event->globalPos(), this);
}

void ImplementationsTable::resizeEvent(QResizeEvent* event) {
    QTableWidget::resizeEvent(event);
    for (int column = 0; column < columnCount(); ++column)
        setColumnWidth(column, static_cast<int>(kTableColumns[column].width * viewport()->width()));
    resizeRowsToContents();
}

QSize ImplementationsTable::figureSize() const {
    constexpr int kRow = 40;  // pixels: two lines of text, or three
    return {860, kRow * (static_cast<int>(implementations().size()) + 1)};
}

/// Narrow figures show the implementations and whether they rotate back.
void ImplementationsTable::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    constexpr double kMargin = 6, kGap = 10;
    struct PaintedColumn {
        int cell;
        double width;
    };
    std::vector<PaintedColumn> columns;
    if (area.width() < kWideTable)
        columns = {{0, 0.68}, {4, 0.32}};
    else
        for (int i = 0; i < columnCount(); ++i)
            columns.push_back({i, kTableColumns[i].width});
    double y = area.top() + kMargin;
    const auto line = [&](const QStringList& cells, const QColor& color, double bottom) {
        double height = 0, x = area.left() + kMargin;
        std::vector<QRectF> cell_areas;
        for (const PaintedColumn& column : columns) {
            const double width = column.width * (area.width() - 2 * kMargin);
            const QRectF cell_area(x, y, width - kGap, area.bottom() - y);
            height = std::max(height,
                              painter.boundingRect(cell_area, Qt::TextWordWrap, cells[column.cell]).height());
            cell_areas.push_back(cell_area);
            x += width;
        }
        if (y + height > bottom) return false;
        painter.setPen(color);
        for (std::size_t i = 0; i < columns.size(); ++i)
            painter.drawText(cell_areas[i], Qt::TextWordWrap, cells[columns[i].cell]);
        y += height + 3;
        painter.setPen(QPen(theme.grid, 1));
        painter.drawLine(QPointF(area.left() + kMargin, y), QPointF(area.right() - kMargin, y));
        y += 3;
        return true;
    };
    line(columnTitles(), theme.faint_text, area.bottom());
    std::size_t drawn = 0;
    const double note = painter.fontMetrics().height() + 2;  // below the rows that fit
    const auto bottomOf = [&](std::size_t row) {
        return row + 1 == implementations().size() ? area.bottom() : area.bottom() - note;
    };
    while (drawn < implementations().size() &&
           line(cellsOf(implementations()[drawn]), theme.text, bottomOf(drawn)))
        ++drawn;
    if (drawn < implementations().size())
        drawColoredText(painter, QRectF(area.left() + kMargin, y, area.width(), area.bottom() - y),
                        Qt::AlignLeft | Qt::AlignTop, tr("and %1 more").arg(implementations().size() - drawn),
                        theme.faint_text);
}

QString ImplementationsTable::figureCsv() const {
    CsvText csv(QStringLiteral(
        "implementation,version,year,pairs,rotated_features,rotated_back,shared,cache,scaling,source"));
    for (const Implementation& one : implementations())
        csv.line(fromText(one.name), fromText(one.version), one.year, fromText(one.pairing),
                 fromText(one.part), fromText(one.back), fromText(one.shared_keys), fromText(one.cache),
                 fromText(one.scaling), fromText(one.source));
    return csv.text();
}

QString ImplementationsTable::figureCaption() const {
    return tr(
        "Published implementations of attention that rotate values, and whether they rotate the output "
        "back by the position of the query");
}

}  // namespace roper
