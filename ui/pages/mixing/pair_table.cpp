#include "ui/pages/mixing/pair_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>
#include <span>

#include "ui/charts/csv_text.h"
#include "ui/charts/drawing.h"
#include "ui/charts/export_dialog.h"
#include "ui/controls/layout_helpers.h"
#include "ui/pages/mixing/mixing_text.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kColumns = 6;
constexpr double kLine = 18;  // pixels
constexpr int kMaxPainted = 64;
constexpr double kWide = 520;  // pixels; narrower figures have fewer columns

QStringList cellsOf(const PairTable::Row& row, int digits = 4) {
    const auto pair = [digits](const Eigen::Vector2d& v) {
        return QStringLiteral("%1, %2").arg(numberText(v.x(), digits), numberText(v.y(), digits));
    };
    return {QString::number(row.pair),
            numberText(row.theta, 4),
            pair(row.rope),
            pair(row.roper),
            numberText(row.change, 4),
            numberText(row.roper.norm() - row.rope.norm(), 4)};
}

QStringList headers() {
    return {QObject::tr("pair"),     QStringLiteral("θ"),   QObject::tr("o, RoPE"),
            QObject::tr("o, RoPER"), QObject::tr("change"), QObject::tr("Δ length")};
}

}  // namespace

PairTable::PairTable(AttentionState& state, QWidget* parent)
    : QTableWidget(0, kColumns, parent), state_(state) {
    setHorizontalHeaderLabels(headers());
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    verticalHeader()->hide();
    setCellSize(*this, 20);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    setAccessibleName(tr("Output of the query pair by pair, the largest change first"));
    setToolTip(tr("Click a pair to show it above"));
    connect(this, &QTableWidget::cellClicked, this,
            [this](int row, int) { emit pairChosen(item(row, 0)->text().toInt()); });
}

std::vector<PairTable::Row> PairTable::computeRows() const {
    std::vector<Row> rows;
    if (!state_.isReady()) return rows;
    const AttentionForm form = mixingForm(state_.setup());
    const Eigen::VectorXd rope = state_.mixed().V.transpose() * state_.mixed().weights;
    const Eigen::VectorXd roper = state_.outputRow(form, state_.setup().shift);
    for (int pair = 0; pair < form.value.rotary.planes(); ++pair) {
        const auto [first, second] = form.value.rotary.plane(pair);
        Row row{pair,
                form.value.rotary.frequency(pair),
                {rope[first], rope[second]},
                {roper[first], roper[second]},
                0};
        row.change = (row.roper - row.rope).norm();
        rows.push_back(row);
    }
    std::ranges::stable_sort(rows, std::ranges::greater(), &Row::change);
    return rows;
}

void PairTable::showRows() {
    const std::vector<Row> rows = computeRows();
    setRowCount(static_cast<int>(rows.size()));
    int chosen = -1;
    for (int i = 0; i < rowCount(); ++i) {
        const Row& row = rows[static_cast<std::size_t>(i)];
        const QStringList cells = cellsOf(row);
        if (row.pair == state_.setup().pair) chosen = i;
        for (int column = 0; column < kColumns; ++column) {
            if (item(i, column) == nullptr) {
                setItem(i, column, new QTableWidgetItem);
                item(i, column)->setTextAlignment(kRightMiddle);
            }
            if (item(i, column)->text() != cells[column]) item(i, column)->setText(cells[column]);
        }
    }
    if (chosen >= 0 && chosen != currentRow()) selectRow(chosen);
}

void PairTable::contextMenuEvent(QContextMenuEvent* event) {
    showExportMenu(*this, event->globalPos(), this);
}

QSize PairTable::figureSize() const {
    const int rows = std::min(state_.setup().pairs(), kMaxPainted);
    return {660, static_cast<int>(kLine * (rows + 1.6)) + 12};
}

/// Narrow figures omit θ and the change of length, and rows that do not fit.
void PairTable::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    struct Column {
        int cell;
        double right;  ///< right edge, relative to the width
    };
    static constexpr Column kAll[] = {{0, 0.06}, {1, 0.20}, {2, 0.44}, {3, 0.68}, {4, 0.83}, {5, 0.98}};
    static constexpr Column kFewer[] = {{0, 0.09}, {2, 0.42}, {3, 0.75}, {4, 0.98}};
    const bool is_wide = area.width() >= kWide;
    const std::span<const Column> columns =
        is_wide ? std::span<const Column>(kAll) : std::span<const Column>(kFewer);
    if (!is_wide) painter.setFont(smallFont(painter.font()));
    double y = area.top() + 8;
    const auto line = [&](const QStringList& cells, const QColor& color) {
        painter.setPen(color);
        for (const Column& column : columns)
            painter.drawText(QRectF(area.left(), y, area.width() * column.right, kLine), kRightMiddle,
                             cells[column.cell]);
        y += kLine;
    };
    line(headers(), theme.faint_text);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(area.left() + 8, y), QPointF(area.right() - 4, y));
    const std::vector<Row> rows = computeRows();
    const int most = std::min(kMaxPainted, static_cast<int>((area.bottom() - y) / kLine));
    const int fitting = static_cast<int>(rows.size()) <= most ? most : most - 1;
    for (int i = 0; i < std::min(fitting, static_cast<int>(rows.size())); ++i)
        line(cellsOf(rows[static_cast<std::size_t>(i)], is_wide ? 4 : 3), theme.text);
    const int left = static_cast<int>(rows.size()) - fitting;
    if (left <= 0) return;
    drawColoredText(painter, QRectF(area.left() + 8, y, area.width() - 12, kLine), kRightMiddle,
                    tr("and %1 more pairs, which change less").arg(left), theme.faint_text);
}

QString PairTable::figureCsv() const {
    CsvText csv(QStringLiteral("pair,theta,rope1,rope2,roper1,roper2,change"));
    for (const Row& row : computeRows())
        csv.line(row.pair, row.theta, row.rope.x(), row.rope.y(), row.roper.x(), row.roper.y(), row.change);
    return csv.text();
}

QString PairTable::figureCaption() const {
    return tr("Output of query %1 pair by pair, the largest change first: %2")
        .arg(state_.query())
        .arg(state_.mixedText());
}

}  // namespace roper
