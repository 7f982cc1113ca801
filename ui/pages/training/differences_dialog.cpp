#include "ui/pages/training/differences_dialog.h"

#include <QApplication>
#include <QClipboard>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QScreen>

#include "core/compare/run_differences.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/run_store.h"
#include "ui/theme/numbers.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr int kMaxColumnWidth = 260;  // pixels at zoom 1
// With more runs, those that differ only in their seeds share a column.
constexpr std::size_t kMaxRuns = 4;

void addHeading(QTableWidget& table, const QString& text) {
    const int row = table.rowCount();
    table.insertRow(row);
    auto* heading = new QTableWidgetItem(text);
    heading->setFont(boldFont(table.font()));
    heading->setFlags(Qt::ItemIsEnabled);
    table.setItem(row, 0, heading);
    table.setSpan(row, 0, 1, table.columnCount());
}

void addRows(QTableWidget& table, const std::vector<RunsRow>& rows) {
    for (const RunsRow& values : rows) {
        const int row = table.rowCount();
        table.insertRow(row);
        table.setItem(row, 0, new QTableWidgetItem(QString::fromStdString(values.title())));
        int column = 0;
        for (const std::string& value : values.values) {
            auto* item = new QTableWidgetItem(QString::fromStdString(value));
            item->setToolTip(item->text());
            table.setItem(row, ++column, item);
        }
    }
}

}  // namespace

DifferencesDialog::DifferencesDialog(const std::vector<RunWatcher*>& runs, QWidget* parent)
    : QDialog(parent), table_(new QTableWidget) {
    const std::vector<RunRecord> records = recordsOf(runs);
    const RunDifferences differences =
        differencesOf(records, records.size() > kMaxRuns ? DifferencesBy::group : DifferencesBy::run);
    markdown_ = QString::fromStdString(toMarkdown(differences));

    setWindowTitle(tr("Differences between %1").arg(countText(static_cast<int>(records.size()), tr("run"))));
    QStringList headers{QString()};
    for (const std::string& title : differences.titles)
        headers << QString::fromStdString(title);
    table_->setColumnCount(static_cast<int>(headers.size()));
    table_->setHorizontalHeaderLabels(headers);
    for (int column = 1; column < headers.size(); ++column)
        table_->horizontalHeaderItem(column)->setToolTip(
            QString::fromStdString(differences.columns[static_cast<std::size_t>(column - 1)]));
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->verticalHeader()->hide();
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->setAccessibleName(tr("Differences"));
    addHeading(*table_, differences.settings.empty() ? tr("No setting differs") : tr("Settings that differ"));
    addRows(*table_, differences.settings);
    addHeading(*table_, tr("Results"));
    addRows(*table_, differences.outcomes);
    table_->resizeColumnsToContents();
    int width = 0;
    for (int column = 0; column < table_->columnCount(); ++column) {
        table_->setColumnWidth(column,
                               std::min(table_->columnWidth(column) + zoomed(12), zoomed(kMaxColumnWidth)));
        width += table_->columnWidth(column);
    }
    table_->resizeRowsToContents();

    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QPushButton* copy = buttons->addButton(tr("Copy as Markdown"), QDialogButtonBox::ActionRole);
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(markdown_); });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    columnOf({table_, buttons}, this);
    const int rows = table_->verticalHeader()->length() + table_->horizontalHeader()->sizeHint().height();
    const QSize room = screen()->availableSize() * 0.9;
    resize(
        QSize(width + zoomed(60), rows + zoomed(90)).boundedTo(room).expandedTo({zoomed(420), zoomed(240)}));
}

}  // namespace roper
