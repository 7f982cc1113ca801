#include "ui/training/runs_panel.h"

#include <QDesktopServices>
#include <QFile>
#include <QGridLayout>
#include <QHeaderView>
#include <QMenu>
#include <QMessageBox>
#include <QUrl>
#include <QVBoxLayout>

#include "core/runs/error.h"

namespace roper {

RunsPanel::RunsPanel(RunStore& store, TrainerLauncher& launcher, QWidget* parent)
    : QWidget(parent),
      store_(store),
      launcher_(launcher),
      model_(new RunsModel(store, this)),
      proxy_(new QSortFilterProxyModel(this)),
      table_(new QTableView),
      filter_(new QLineEdit),
      detail_(new QLabel),
      control_(new ControlClient(this)) {
    proxy_->setSourceModel(model_);
    proxy_->setSortRole(RunsModel::kSortRole);
    proxy_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    proxy_->setFilterKeyColumn(-1);
    proxy_->setDynamicSortFilter(true);
    table_->setModel(proxy_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(RunsModel::name_column, Qt::DescendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setAlternatingRowColors(true);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setTextElideMode(Qt::ElideLeft);  // the end of a name tells more than its date
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setDefaultSectionSize(24);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->setAccessibleName(tr("Runs"));
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    const int widths[] = {132, 68, 78, 54, 58, 58, 48, 48};
    for (int column = 0; column < RunsModel::column_count; ++column)
        table_->setColumnWidth(column, widths[column]);
    filter_->setPlaceholderText(tr("Filter runs by words"));
    filter_->setAccessibleName(tr("Filter runs"));
    filter_->setClearButtonEnabled(true);
    detail_->setWordWrap(true);
    detail_->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(filter_);
    layout->addWidget(table_, 1);
    layout->addWidget(makeButtons());
    layout->addWidget(detail_);

    connect(filter_, &QLineEdit::textChanged, proxy_, &QSortFilterProxyModel::setFilterFixedString);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        showButtons();
        emit selectionChanged();
    });
    connect(table_, &QTableView::customContextMenuRequested, this, &RunsPanel::openMenu);
    connect(table_, &QTableView::doubleClicked, this, &RunsPanel::openFolder);
    connect(&store_, &RunStore::changed, this, &RunsPanel::showButtons);
    connect(control_, &ControlClient::answered, this, [this](bool ok, const QString& message) {
        emit said(ok ? message : tr("Not done: %1").arg(message));
    });
    showButtons();
}

QWidget* RunsPanel::makeButtons() {
    const auto make = [this](const QString& text, const QString& help, auto action) {
        auto* button = new QPushButton(text);
        button->setToolTip(help);
        button->setMinimumWidth(48);
        connect(button, &QPushButton::clicked, this, action);
        return button;
    };
    pause_ = make(tr("Pause"), tr("Wait between two steps; nothing is lost"), [this] {
        const RunWatcher* run = selected();
        send(run != nullptr && run->state() == RunState::paused ? Command::resume : Command::pause);
    });
    stop_ = make(tr("Stop"), tr("Save a checkpoint and end; the run can be continued"),
                 [this] { send(Command::stop); });
    checkpoint_ = make(tr("Checkpoint"), tr("Save a checkpoint now"), [this] { send(Command::checkpoint); });
    continue_ = make(tr("Continue"), tr("Start a trainer again after the newest checkpoint"),
                     [this] { continueSelected(); });
    auto* buttons = new QWidget;
    auto* layout = new QHBoxLayout(buttons);
    layout->setContentsMargins(0, 0, 0, 0);
    for (QPushButton* button : {pause_, stop_, checkpoint_, continue_})
        layout->addWidget(button);
    return buttons;
}

RunWatcher* RunsPanel::selected() const {
    const QModelIndex current = table_->currentIndex();
    return current.isValid() ? model_->run(proxy_->mapToSource(current).row()) : nullptr;
}

void RunsPanel::select(const QString& name) {
    const int row = model_->rowOf(name);
    if (row >= 0) table_->setCurrentIndex(proxy_->mapFromSource(model_->index(row, 0)));
}

void RunsPanel::send(Command command) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    if (run->status().control.empty()) {
        emit said(tr("%1 has no control socket on this machine; it can only be watched").arg(run->name()));
        return;
    }
    control_->send(QString::fromStdString(run->status().control), command);
}

void RunsPanel::continueSelected() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    try {
        launcher_.resume(run->folder());
        emit said(tr("%1 goes on").arg(run->name()));
    } catch (const Error& error) {
        emit said(QString::fromStdString(error.what()));
    }
}

void RunsPanel::showButtons() {
    const RunWatcher* run = selected();
    const bool active = run != nullptr && run->isActive();
    const bool paused = run != nullptr && run->state() == RunState::paused;
    const bool finished = run != nullptr && run->state() == RunState::finished;
    pause_->setText(paused ? tr("Go on") : tr("Pause"));
    for (QPushButton* button : {pause_, stop_, checkpoint_})
        button->setEnabled(active);
    continue_->setEnabled(run != nullptr && !active && !finished && run->specification().has_value());
    QString detail;
    if (run != nullptr && !run->problem().isEmpty()) detail = run->problem();
    if (run != nullptr && !run->status().error.empty()) detail = QString::fromStdString(run->status().error);
    if (run != nullptr && run->state() == RunState::interrupted)
        detail =
            tr("The trainer has ended without a word, killed or out of memory. “Continue” goes on after its "
               "newest "
               "checkpoint.");
    // A trainer that could not even begin has left its reason on stderr alone.
    if (run != nullptr && detail.isEmpty() && run->state() == RunState::queued) detail = run->messages();
    detail_->setText(detail);
    detail_->setVisible(!detail.isEmpty());
}

void RunsPanel::openMenu(const QPoint& at) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    QMenu menu(this);
    menu.addAction(tr("Open folder"), this, &RunsPanel::openFolder);
    QAction* remove = menu.addAction(tr("Move to wastebasket"), this, &RunsPanel::moveToWastebasket);
    remove->setEnabled(!run->isActive());
    menu.exec(table_->viewport()->mapToGlobal(at));
}

void RunsPanel::openFolder() {
    if (const RunWatcher* run = selected())
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(run->folder().path().string())));
}

void RunsPanel::moveToWastebasket() {
    const RunWatcher* run = selected();
    if (run == nullptr || run->isActive()) return;
    const QString path = QString::fromStdString(run->folder().path().string());
    if (QFile::moveToTrash(path))
        store_.refresh();
    else
        emit said(tr("%1 could not be moved to the wastebasket; nothing was deleted").arg(path));
}

}  // namespace roper
