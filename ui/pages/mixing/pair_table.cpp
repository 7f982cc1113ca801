#include "ui/pages/mixing/pair_table.h"

#include <QContextMenuEvent>
#include <QHeaderView>

#include "ui/charts/figure_export.h"
#include "ui/pages/mixing/compass_view.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kColumns = 6;
constexpr double kLine = 18;
constexpr int kMostPainted = 64;

QStringList cellsOf(const PairTable::Row& row) {
    const auto pair = [](const Eigen::Vector2d& v) {
        return QStringLiteral("%1, %2").arg(noteNumber(v.x(), 4), noteNumber(v.y(), 4));
    };
    return {QString::number(row.pair),
            noteNumber(row.theta, 4),
            pair(row.rope),
            pair(row.roper),
            noteNumber(row.change, 4),
            noteNumber(row.roper.norm() - row.rope.norm(), 4)};
}

QStringList headers() {
    return {QObject::tr("pair"),     QStringLiteral("θ"),   QObject::tr("o, RoPE"),
            QObject::tr("o, RoPER"), QObject::tr("change"), QObject::tr("longer by")};
}

}  // namespace

PairTable::PairTable(AttentionState& state, QWidget* parent)
    : QTableWidget(0, kColumns, parent), state_(state) {
    setHorizontalHeaderLabels(headers());
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(20);
    horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    setAccessibleName(tr("Output of the query pair by pair, the largest change first"));
    setToolTip(tr("A click shows the pair above"));
    connect(this, &QTableWidget::cellClicked, this,
            [this](int row, int) { emit pairChosen(item(row, 0)->text().toInt()); });
}

std::vector<PairTable::Row> PairTable::computeRows() const {
    std::vector<Row> rows;
    if (!state_.isReady()) return rows;
    const AttentionForm form = mixingForm(state_.setup());
    const Eigen::VectorXd rope = state_.heads().V.transpose() * state_.weightRow();
    const Eigen::VectorXd roper =
        outputRow(form, state_.weightRow(), state_.heads().V, state_.positions(), state_.query());
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
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.change > b.change; });
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
                item(i, column)->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
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
    const int rows = std::min(state_.setup().pairs(), kMostPainted);
    return {660, static_cast<int>(kLine * (rows + 1.6)) + 12};
}

void PairTable::paintFigure(QPainter& painter, const QRectF& area, const Theme& theme) const {
    static constexpr double kRight[] = {0.06, 0.20, 0.44, 0.68, 0.83, 0.98};
    double y = area.top() + 8;
    const auto line = [&](const QStringList& cells, const QColor& color) {
        painter.setPen(color);
        for (int column = 0; column < kColumns; ++column)
            painter.drawText(QRectF(area.left(), y, area.width() * kRight[column], kLine),
                             Qt::AlignRight | Qt::AlignVCenter, cells[column]);
        y += kLine;
    };
    line(headers(), theme.faint_text);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(area.left() + 8, y), QPointF(area.right() - 4, y));
    int painted = 0;
    for (const Row& row : computeRows())
        if (painted++ < kMostPainted) line(cellsOf(row), theme.text);
}

QString PairTable::figureCsv() const {
    QString csv = QStringLiteral("pair,theta,rope1,rope2,roper1,roper2,change\n");
    for (const Row& row : computeRows()) {
        csv += QString::number(row.pair);
        for (const double value :
             {row.theta, row.rope.x(), row.rope.y(), row.roper.x(), row.roper.y(), row.change})
            csv += ',' + QString::number(value, 'g', 17);
        csv += '\n';
    }
    return csv;
}

QString PairTable::figureCaption() const {
    return tr("Output of query %1 pair by pair, the largest change first: %2")
        .arg(state_.query())
        .arg(state_.sourceText());
}

}  // namespace roper
