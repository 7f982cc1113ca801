#include "ui/pages/compare/import_dialog.h"

#include <QRegularExpression>
#include <QTableWidget>
#include <QtConcurrent>

#include "ui/controls/layout_helpers.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kPreviewRows = 6;
constexpr int kSeedNotKnown = -1;

QString fieldTitle(const std::string& field) {
    static const std::map<std::string, QString> titles = {
        {"step", ImportDialog::tr("step (required)")},
        {"loss", ImportDialog::tr("training loss, nats")},
        {"time_s", ImportDialog::tr("training time, s")},
        {"tokens", ImportDialog::tr("tokens")},
        {"correct", ImportDialog::tr("problems solved")},
        {"of", ImportDialog::tr("… out of")},
        {"evaluation_loss", ImportDialog::tr("loss on fresh sequences, nats")},
        {"learning_rate", ImportDialog::tr("learning rate")},
        {"grad_norm", ImportDialog::tr("gradient norm before clipping")},
        {"tokens_per_s", ImportDialog::tr("tokens per second")}};
    return titles.at(field);
}

QTableWidget* makePreview(const ExternalTable& table) {
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
            preview->setItem(row, column, new QTableWidgetItem(cell ? numberText(*cell) : QString()));
        }
    }
    preview->resizeColumnsToContents();
    preview->setMaximumHeight(220);
    return preview;
}

/// A run name derived from the file or folder.
QString nameFor(const std::filesystem::path& source) {
    static const QRegularExpression not_allowed(QStringLiteral("[^A-Za-z0-9._-]+"));
    std::error_code unreadable;
    const bool is_folder = std::filesystem::is_directory(source, unreadable);
    QString name = QString::fromStdString((is_folder ? source.filename() : source.stem()).string());
    name.replace(not_allowed, QStringLiteral("-"));
    return (QStringLiteral("imported-") + name).left(64);
}

}  // namespace

ImportDialog::ImportDialog(const std::filesystem::path& file, std::filesystem::path runs, QWidget* parent)
    : QDialog(parent),
      runs_(std::move(runs)),
      name_(new QLineEdit(nameFor(file))),
      method_(named(new QComboBox, tr("Method"),
                    tr("The method of the run; if unknown, it is shown as “imported”"))),
      task_(named(new QComboBox, tr("Task"), tr("The task of the run"))),
      seed_(named(new QSpinBox, tr("Seed"),
                  tr("Runs with the same seed are compared as pairs; if unknown, the run is in no pair"))),
      what_(wrappedLabel()),
      problem_(messageLabel()),
      notes_(messageLabel()),
      busy_(new QProgressBar),
      questions_(new QWidget),
      buttons_(new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel)) {
    setWindowTitle(tr("Import metrics"));
    problem_->hide();
    notes_->setTextFormat(Qt::PlainText);
    notes_->hide();
    for (QWidget* input : std::initializer_list<QWidget*>{name_, method_, task_, seed_})
        input->setParent(questions_);
    questions_->hide();
    busy_->setRange(0, 0);
    busy_->setAccessibleName(tr("Busy"));
    import_ = buttons_->button(QDialogButtonBox::Ok);
    import_->setText(tr("Import"));
    connect(buttons_, &QDialogButtonBox::rejected, this, &ImportDialog::reject);
    connect(buttons_, &QDialogButtonBox::accepted, this, [this] { is_done_ ? accept() : import(); });
    // Without questions, the texts stand at the top.
    columnOf({what_, busy_, {questions_, 1}, problem_, notes_, kSpacer, buttons_}, this);
    resize(560, 640);
    read(file);
}

ImportDialog::~ImportDialog() {
    *keep_going_ = false;
}

void ImportDialog::read(const std::filesystem::path& file) {
    const auto should_continue = [flag = keep_going_] { return flag->load(); };
    start(
        tr("Reading %1 …").arg(QString::fromStdString(file.string())),
        [table = table_, file, should_continue] { *table = readExternalTable(file, should_continue); },
        [this] { ask(); });
}

void ImportDialog::start(const QString& what, const std::function<void()>& work,
                         const std::function<void()>& then) {
    const auto show_busy = [this](bool busy) {
        is_busy_ = busy;
        busy_->setVisible(busy);
        questions_->setEnabled(!busy);
        import_->setEnabled(!busy && !choices_.empty());
    };
    const QString before = what_->text();
    what_->setText(what);
    show_busy(true);
    QtConcurrent::run([work] {
        try {
            work();
        } catch (const std::exception& error) {
            return QString::fromStdString(error.what());
        }
        return QString();
    }).then(this, [this, then, show_busy, before](const QString& problem) {
        show_busy(false);
        what_->setText(before);
        setTextOrHide(*problem_, problem);
        if (problem.isEmpty()) then();
    });
}

/// Shows the contents of the file, and asks for the meaning of its columns.
void ImportDialog::ask() {
    QString what = tr("%1: %2 rows. What does each column contain?")
                       .arg(QString::fromStdString(table_->origin))
                       .arg(table_->row_count);
    if (table_->non_numeric > 0)
        what += tr(" Left empty: %1 without a number in columns of numbers.")
                    .arg(countText(static_cast<int>(table_->non_numeric), tr("cell")));
    what_->setText(what);
    auto* form = new QFormLayout;
    name_->setAccessibleName(tr("Name of the run"));
    form->addRow(tr("name of the run"), name_);
    addColumnChoices(*form);
    addRunProperties(*form);
    columnOf({makePreview(*table_), form}, questions_)->setContentsMargins(0, 0, 0, 0);
    questions_->show();
    import_->setEnabled(true);
}

void ImportDialog::addColumnChoices(QFormLayout& form) {
    const auto guessed = guessMapping(*table_);
    for (const std::string& field : kImportFields) {
        auto* choice = named(new QComboBox, fieldTitle(field), tr("The column of the file that contains it"));
        choice->addItem(tr("not in the file"), QString());
        for (const std::string& column : table_->columns)
            choice->addItem(QString::fromStdString(column), QString::fromStdString(column));
        const auto found = guessed.find(field);
        if (found != guessed.end()) choice->setCurrentText(QString::fromStdString(found->second));
        choices_[field] = choice;
        form.addRow(fieldTitle(field), choice);
    }
}

void ImportDialog::addRunProperties(QFormLayout& form) {
    method_->addItem(tr("unknown"), QString());
    for (const PositionMethod& method : positionMethods())
        method_->addItem(QString::fromStdString(method.title), QString::fromStdString(method.name));
    task_->addItem(tr("unknown"), QString());
    for (const TaskKind& kind : taskKinds())
        task_->addItem(QString::fromStdString(kind.name), QString::fromStdString(kind.name));
    seed_->setRange(kSeedNotKnown, 1000000000);
    seed_->setSpecialValueText(tr("unknown"));
    seed_->setValue(kSeedNotKnown);
    form.addRow(tr("method"), method_);
    form.addRow(tr("task"), task_);
    form.addRow(tr("seed"), seed_);
    form.addRow(faintLabel(tr("Of its other settings, only the number of steps is known.")));
}

std::map<std::string, std::string> ImportDialog::mapping() const {
    std::map<std::string, std::string> mapping;
    for (const auto& [field, choice] : choices_) {
        const QString column = choice->currentData().toString();
        if (!column.isEmpty()) mapping[field] = column.toStdString();
    }
    return mapping;
}

/// A specification with the user's entries only.
Specification ImportDialog::enteredSpecification() const {
    Specification specification;
    std::vector<std::string> known;
    const auto say = [&](const std::string& key, const QString& value) {
        if (value.isEmpty()) return;
        findField(key).set(specification, value.toStdString());
        known.push_back(key);
    };
    say("model.position", method_->currentData().toString());
    say("task.name", task_->currentData().toString());
    const QString seed = seed_->value() == kSeedNotKnown ? QString() : QString::number(seed_->value());
    say("training.data_seed", seed);
    say("training.model_seed", seed);
    specification.about.known = join(known, " ");
    return specification;
}

void ImportDialog::import() {
    const auto imported = std::make_shared<std::optional<ImportedRun>>();
    start(
        tr("Importing %1 …").arg(QString::fromStdString(table_->origin)),
        [table = table_, runs = runs_, name = name_->text().trimmed().toStdString(),
         specification = enteredSpecification(), columns = mapping(),
         imported] { *imported = importRun(runs, name, specification, *table, columns); },
        [this, imported] { showNotes(**imported); });
}

/// Shows what was left out before the dialog closes.
void ImportDialog::showNotes(const ImportedRun& imported) {
    is_done_ = true;
    if (imported.notes.empty()) return accept();
    QStringList lines;
    for (const std::string& note : imported.notes)
        lines << QStringLiteral("• ") + QString::fromStdString(note);
    what_->setText(tr("%1 has been imported. Parts of the file were changed or left out; the run's log.txt "
                      "lists them too:")
                       .arg(QString::fromStdString(imported.folder.name())));
    notes_->setText(lines.join('\n'));
    notes_->show();
    questions_->hide();
    buttons_->button(QDialogButtonBox::Cancel)->hide();
    import_->setText(tr("Close"));
    import_->setFocus();
}

/// After the import the run exists, so closing the dialog in any way accepts it.
void ImportDialog::reject() {
    if (is_done_)
        accept();
    else
        QDialog::reject();
}

}  // namespace roper
