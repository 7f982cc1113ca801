#include "ui/pages/inspect/stored_models_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QJsonDocument>
#include <QJsonObject>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/live/trainer_launcher.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

enum Column { kTitle, kProgram, kFamily, kParameters, kType, kSize, kMemory, kColumns };
constexpr int kPathRole = Qt::UserRole, kProblemRole = Qt::UserRole + 1, kNumberRole = Qt::UserRole + 2;

/// A row of the list; columns of quantities are sorted by their numbers, not as texts.
class ModelRow : public QTreeWidgetItem {
  public:
    using QTreeWidgetItem::QTreeWidgetItem;
    bool operator<(const QTreeWidgetItem& other) const override {
        const int column = treeWidget()->sortColumn();
        const QVariant mine = data(column, kNumberRole), others = other.data(column, kNumberRole);
        if (mine.isValid() || others.isValid()) return mine.toDouble() < others.toDouble();
        return text(column).localeAwareCompare(other.text(column)) < 0;
    }
    void setQuantity(int column, double value, const QString& text) {
        setText(column, text);
        setData(column, kNumberRole, value);
        setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    }
};

}  // namespace

StoredModelsDialog::StoredModelsDialog(QWidget* parent)
    : QDialog(parent),
      filter_(named(new QLineEdit, tr("Filter models"), tr("Shows the models whose row contains this text"))),
      list_(named(new QTreeWidget, tr("Models on this machine"))),
      details_(messageLabel()),
      status_(faintLabel()),
      open_(nullptr) {
    setWindowTitle(tr("Models on this machine"));
    resize(zoomed(860), zoomed(460));
    filter_->setPlaceholderText(tr("filter, such as qwen or Q4_K"));
    filter_->setClearButtonEnabled(true);
    list_->setColumnCount(kColumns);
    list_->setHeaderLabels(
        {tr("Model"), tr("Found in"), tr("Family"), tr("Parameters"), tr("Type"), tr("Size"), tr("Memory")});
    list_->headerItem()->setToolTip(kMemory, tr("Minimum for reading 500 tokens"));
    list_->headerItem()->setToolTip(kType, tr("Number type of most parameters"));
    for (const int column : {kParameters, kSize, kMemory})
        list_->headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setSortingEnabled(true);
    list_->sortByColumn(kTitle, Qt::AscendingOrder);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    list_->header()->setSectionResizeMode(kTitle, QHeaderView::Stretch);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Open | QDialogButtonBox::Cancel);
    open_ = buttons->button(QDialogButtonBox::Open);
    open_->setEnabled(false);
    columnOf({filter_, {list_, 1}, details_, status_, buttons}, this);
    connect(filter_, &QLineEdit::textChanged, this, &StoredModelsDialog::applyFilter);
    connect(list_, &QTreeWidget::currentItemChanged, this, &StoredModelsDialog::showCurrent);
    connect(list_, &QTreeWidget::itemActivated, this, &StoredModelsDialog::openCurrent);
    connect(buttons, &QDialogButtonBox::accepted, this, &StoredModelsDialog::openCurrent);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    start();
}

StoredModelsDialog::~StoredModelsDialog() {
    process_.disconnect(this);
    if (process_.state() == QProcess::NotRunning) return;
    process_.kill();
    process_.waitForFinished();
}

void StoredModelsDialog::start() {
    status_->setText(tr("Searching …"));
    connect(&process_, &QProcess::readyReadStandardOutput, this, &StoredModelsDialog::readLines);
    connect(&process_, &QProcess::finished, this, &StoredModelsDialog::finish);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            status_->setText(tr("roper-train cannot be started: %1").arg(process_.errorString()));
    });
    process_.start(TrainerLauncher::trainerProgram(), {QStringLiteral("models"), QStringLiteral("--json")});
}

void StoredModelsDialog::readLines() {
    while (process_.canReadLine())
        addModel(process_.readLine());
}

void StoredModelsDialog::addModel(const QByteArray& line) {
    const QJsonObject model = QJsonDocument::fromJson(line).object();
    const auto textOf = [&](const char* key) { return model.value(QLatin1String(key)).toString(); };
    const auto numberOf = [&](const char* key) { return model.value(QLatin1String(key)).toDouble(); };
    auto* row = new ModelRow;
    row->setText(kTitle, textOf("title"));
    row->setToolTip(kTitle, textOf("path"));
    row->setText(kProgram, textOf("program"));
    row->setData(kTitle, kPathRole, textOf("path"));
    if (const QString problem = textOf("problem"); !problem.isEmpty()) {
        row->setData(kTitle, kProblemRole, problem);
        row->setText(kFamily, tr("cannot be opened"));
        for (int column = 0; column < kColumns; ++column)
            row->setForeground(column, palette().color(QPalette::PlaceholderText));
    } else {
        row->setText(kFamily, textOf("family"));
        row->setText(kType, textOf("type"));
        const double parameters = numberOf("parameters"), bytes = numberOf("bytes"),
                     memory = numberOf("memory_bytes");
        row->setQuantity(kParameters, parameters,
                         QString::fromStdString(formatWithUnit(parameters, {"", "k", "M", "B", "T"})));
        row->setQuantity(kSize, bytes, QString::fromStdString(formatBytes(bytes)));
        row->setQuantity(kMemory, memory, QString::fromStdString(formatBytes(memory)));
    }
    list_->addTopLevelItem(row);
    applyFilter();
}

void StoredModelsDialog::finish() {
    readLines();
    const int count = list_->topLevelItemCount();
    if (process_.exitStatus() != QProcess::NormalExit || process_.exitCode() != 0)
        status_->setText(tr("The search failed: %1")
                             .arg(QString::fromLocal8Bit(process_.readAllStandardError()).trimmed()));
    else if (count == 0)
        status_->setText(
            tr("No models found in the caches of Hugging Face, LM Studio, Ollama and llama.cpp. Close this "
               "window and choose a file or folder, or one of the models in the page’s list."));
    else
        status_->setText(count == 1 ? tr("1 model") : tr("%1 models").arg(count));
}

void StoredModelsDialog::applyFilter() {
    const QString wanted = filter_->text().trimmed();
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* row = list_->topLevelItem(i);
        bool matches = wanted.isEmpty();
        for (int column = 0; column < kColumns && !matches; ++column)
            matches = row->text(column).contains(wanted, Qt::CaseInsensitive);
        row->setHidden(!matches);
    }
    showCurrent();
}

void StoredModelsDialog::showCurrent() {
    const QTreeWidgetItem* row = list_->currentItem();
    const bool is_shown = row != nullptr && !row->isHidden();
    const QString problem = is_shown ? row->data(kTitle, kProblemRole).toString() : QString();
    open_->setEnabled(is_shown && problem.isEmpty());
    setTextOrHide(*details_, problem);
}

void StoredModelsDialog::openCurrent() {
    if (!open_->isEnabled()) return;
    emit chosen(list_->currentItem()->data(kTitle, kPathRole).toString());
    accept();
}

}  // namespace roper
