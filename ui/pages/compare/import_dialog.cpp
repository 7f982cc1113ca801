#include "ui/pages/compare/import_dialog.h"

#include <QFormLayout>
#include <QHeaderView>
#include <QRegularExpression>
#include <QTableWidget>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/compare/grouping.h"
#include "ui/theme/numbers.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr int kPreviewRows = 6;

QString fieldTitle(const std::string& field) {
    static const std::map<std::string, QString> titles = {
        {"step", ImportDialog::tr("step (needed)")},
        {"loss", ImportDialog::tr("training loss, nats")},
        {"time_s", ImportDialog::tr("training time, s")},
        {"tokens", ImportDialog::tr("tokens")},
        {"correct", ImportDialog::tr("problems solved")},
        {"of", ImportDialog::tr("… of how many")},
        {"evaluation_loss", ImportDialog::tr("loss on fresh sequences, nats")},
        {"learning_rate", ImportDialog::tr("learning rate")}};
    return titles.at(field);
}

QTableWidget* makePreview(const ForeignTable& table) {
    const int rows = std::min(kPreviewRows, static_cast<int>(table.first_rows.size()));
    auto* preview = new QTableWidget(rows, static_cast<int>(table.columns.size()));
    preview->setAccessibleName(ImportDialog::tr("First rows of the file"));
    preview->setEditTriggers(QAbstractItemView::NoEditTriggers);
    for (int column = 0; column < preview->columnCount(); ++column) {
        const auto at = static_cast<std::size_t>(column);
        preview->setHorizontalHeaderItem(column,
                                         new QTableWidgetItem(QString::fromStdString(table.columns[at])));
        for (int row = 0; row < rows; ++row) {
            const auto& cell = table.first_rows[static_cast<std::size_t>(row)][at];
            preview->setItem(row, column, new QTableWidgetItem(cell ? noteNumber(*cell) : QString()));
        }
    }
    preview->resizeColumnsToContents();
    preview->setMaximumHeight(220);
    return preview;
}

/// A name for the run from that of the file.
QString nameFor(const std::string& origin) {
    static const QRegularExpression not_allowed(QStringLiteral("[^A-Za-z0-9._-]+"));
    QString name = QString::fromStdString(std::filesystem::path(origin).stem().string());
    name.replace(not_allowed, QStringLiteral("-"));
    return (QStringLiteral("imported-") + name).left(64);
}

}  // namespace

ImportDialog::ImportDialog(ForeignTable table, std::filesystem::path runs, const Specification& like,
                           QWidget* parent)
    : QDialog(parent),
      table_(std::move(table)),
      runs_(std::move(runs)),
      like_(like),
      name_(new QLineEdit(nameFor(table_.origin))),
      method_(new QComboBox),
      task_(new QComboBox),
      seed_(new QSpinBox),
      problem_(makePlainLabel()) {
    setWindowTitle(tr("Import metrics"));
    auto* form = new QFormLayout;
    name_->setAccessibleName(tr("Name of the run"));
    form->addRow(tr("name of the run"), name_);
    const auto guessed = guessMapping(table_);
    for (const std::string& field : kImportFields) {
        auto* choice = new QComboBox;
        choice->setAccessibleName(fieldTitle(field));
        choice->setToolTip(tr("The column of the file that holds it"));
        choice->addItem(tr("not in the file"), QString());
        for (const std::string& column : table_.columns)
            choice->addItem(QString::fromStdString(column), QString::fromStdString(column));
        const auto found = guessed.find(field);
        if (found != guessed.end()) choice->setCurrentText(QString::fromStdString(found->second));
        choices_[field] = choice;
        form->addRow(fieldTitle(field), choice);
    }
    for (const PositionMethod& method : positionMethods())
        method_->addItem(QString::fromStdString(method.title), QString::fromStdString(method.name));
    method_->setAccessibleName(tr("Method"));
    method_->setToolTip(tr("Which method the run is taken for"));
    method_->setCurrentText(QString::fromStdString(positionMethod(like_.model.position).title));
    for (const TaskKind& kind : taskKinds())
        if (!kind.is_text) task_->addItem(QString::fromStdString(kind.name));
    task_->setAccessibleName(tr("Task"));
    task_->setToolTip(
        tr("Which task the run is taken for; its other settings are those of the Training page"));
    task_->setCurrentText(QString::fromStdString(like_.task.name));
    seed_->setRange(0, 1000000000);
    seed_->setAccessibleName(tr("Seed"));
    seed_->setToolTip(tr("Runs of the same seed are compared as pairs"));
    form->addRow(tr("method"), method_);
    form->addRow(tr("task"), task_);
    form->addRow(tr("seed"), seed_);
    problem_->setWordWrap(true);
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    problem_->hide();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    buttons->button(QDialogButtonBox::Ok)->setText(tr("Import"));
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons, &QDialogButtonBox::accepted, this, [this] {
        if (import()) accept();
    });
    auto* layout = new QVBoxLayout(this);
    auto* what = new QLabel(tr("%1: %2 rows. Which column is what?")
                                .arg(QString::fromStdString(table_.origin))
                                .arg(table_.row_count));
    what->setWordWrap(true);
    if (table_.unread > 0)
        what->setText(what->text() + tr(" %1 with no number are left empty.")
                                         .arg(counted(static_cast<int>(table_.unread), tr("cell"))));
    layout->addWidget(what);
    layout->addWidget(makePreview(table_));
    layout->addLayout(form);
    layout->addWidget(problem_);
    layout->addWidget(buttons);
    resize(560, 640);
}

std::map<std::string, std::string> ImportDialog::mapping() const {
    std::map<std::string, std::string> mapping;
    for (const auto& [field, choice] : choices_) {
        const QString column = choice->currentData().toString();
        if (!column.isEmpty()) mapping[field] = column.toStdString();
    }
    return mapping;
}

bool ImportDialog::import() {
    Specification specification = like_;
    specification.task.name = task_->currentText().toStdString();
    specification = withPosition(specification, method_->currentData().toString().toStdString());
    specification.training.data_seed = specification.training.model_seed = seed_->value();
    try {
        importRun(runs_, name_->text().trimmed().toStdString(), specification, table_, mapping());
        return true;
    } catch (const Error& error) {
        problem_->setText(QString::fromStdString(error.what()));
        problem_->show();
        return false;
    }
}

}  // namespace roper
