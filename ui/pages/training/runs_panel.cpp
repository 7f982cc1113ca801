#include "ui/pages/training/runs_panel.h"

#include <QColorDialog>
#include <QDesktopServices>
#include <QGridLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QMenu>
#include <QShortcut>
#include <QUrl>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "ui/controls/narrow_button.h"
#include "ui/controls/table_rows.h"
#include "ui/live/run_notice.h"
#include "ui/theme/plain_text.h"

namespace roper {

RunsPanel::RunsPanel(TrainingState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      store_(state.store()),
      launcher_(state.launcher()),
      queue_(state.queue()),
      model_(new RunsModel(state.store(), this)),
      proxy_(new RunFilterModel(*model_, this)),
      table_(new QTableView),
      filter_(new QLineEdit),
      detail_(makePlainLabel()),
      filter_problem_(makePlainLabel()),
      control_(new ControlClient(this)) {
    table_->setModel(proxy_);
    table_->setSortingEnabled(true);
    table_->sortByColumn(RunsModel::name_column, Qt::DescendingOrder);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setAlternatingRowColors(true);
    table_->setShowGrid(false);
    table_->setWordWrap(false);
    table_->setTextElideMode(Qt::ElideLeft);  // the end of a name tells more than its date
    table_->verticalHeader()->hide();
    setCellSize(*table_, 24);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->setAccessibleName(tr("Runs"));
    table_->setContextMenuPolicy(Qt::CustomContextMenu);
    const int widths[] = {124, 80, 70, 78, 54, 58, 58, 48, 48};
    for (int column = 0; column < RunsModel::column_count; ++column)
        table_->setColumnWidth(column, widths[column]);
    filter_->setPlaceholderText(tr("words, position=roper, loss<0.6, seed<5 …"));
    filter_->setAccessibleName(tr("Filter runs"));
    filter_->setToolTip(
        tr("Words that the name, task, method or state must hold, and comparisons of any setting or "
           "of step, loss, correct, accuracy, seed. The charts show what is listed."));
    filter_problem_->setWordWrap(true);
    filter_problem_->hide();
    filter_->setClearButtonEnabled(true);
    detail_->setWordWrap(true);
    detail_->setAccessibleName(tr("About the run"));
    detail_->setTextInteractionFlags(Qt::TextSelectableByMouse);

    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(filter_);
    layout->addWidget(filter_problem_);
    layout->addWidget(table_, 1);
    layout->addWidget(makeButtons());
    layout->addWidget(detail_);

    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QString problem = proxy_->setFilter(text);
        filter_problem_->setText(problem);
        filter_problem_->setVisible(!problem.isEmpty());
        emit listedChanged();
    });
    connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &RunsPanel::listedChanged);
    for (auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(proxy_, signal, this, &RunsPanel::listedChanged);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        showButtons();
        emit selectionChanged();
    });
    connect(table_, &QTableView::customContextMenuRequested, this, &RunsPanel::openMenu);
    auto* discard_key = new QShortcut(QKeySequence::Delete, table_);
    discard_key->setContext(Qt::WidgetShortcut);
    connect(discard_key, &QShortcut::activated, this, &RunsPanel::discard);
    connect(table_, &QTableView::doubleClicked, this, &RunsPanel::openFolder);
    connect(&store_, &RunStore::changed, this, &RunsPanel::showButtons);
    connect(control_, &ControlClient::answered, this, [this](bool ok, const QString& message) {
        emit said(ok ? message : tr("Not done: %1%2").arg(message, version_note_));
    });
    showButtons();
}

QWidget* RunsPanel::makeButtons() {
    const auto make = [this](const QStringList& texts, const QString& help, auto action) {
        auto* button = new NarrowButton(texts);
        button->setToolTip(help);
        connect(button, &QPushButton::clicked, this, action);
        return button;
    };
    pause_ = make({tr("Pause"), tr("Resume")}, tr("Wait between two steps; nothing is lost"), [this] {
        const RunWatcher* run = selected();
        send(run != nullptr && run->state() == RunState::paused ? Command::resume : Command::pause);
    });
    stop_ = make({tr("Stop")}, tr("Save a checkpoint and end; the run can be continued"),
                 [this] { send(Command::stop); });
    checkpoint_ =
        make({tr("Checkpoint")}, tr("Save a checkpoint now"), [this] { send(Command::checkpoint); });
    continue_ =
        make({tr("Continue")},
             tr("Start a trainer again after the newest checkpoint, or let one go on that is suspended"),
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

std::vector<RunWatcher*> RunsPanel::allSelected() const {
    std::vector<RunWatcher*> runs;
    for (const QModelIndex& row : table_->selectionModel()->selectedRows())
        runs.push_back(model_->run(proxy_->mapToSource(row).row()));
    return runs;
}

void RunsPanel::select(const QString& name) {
    const int row = model_->rowOf(name);
    if (row >= 0) table_->setCurrentIndex(proxy_->mapFromSource(model_->index(row, 0)));
}

QStringList RunsPanel::listed(int most) const {
    QStringList names;
    for (int row = 0; row < std::min(most, proxy_->rowCount()); ++row)
        names << model_->run(proxy_->mapToSource(proxy_->index(row, 0)).row())->name();
    if (const RunWatcher* run = selected(); run != nullptr && !names.contains(run->name()))
        names << run->name();
    return names;
}

void RunsPanel::rename(const QString& to) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const QString from = run->name();
    queue_.renameRun(run->folder(), to.toStdString());
    emit renamed(from, to);
    store_.refresh();
    select(to);
}

void RunsPanel::askForName() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    bool accepted = false;
    const QString name =
        QInputDialog::getText(this, tr("Rename the run"), tr("Letters, digits, '.', '_' and '-':"),
                              QLineEdit::Normal, run->name(), &accepted);
    if (!accepted || name == run->name()) return;
    try {
        rename(name.trimmed());
    } catch (const Error& error) {
        emit said(tr("Not renamed: %1").arg(QString::fromStdString(error.what())));
    }
}

void RunsPanel::askForColor() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    const QString name = run->name();
    const QColor before = model_->color(name);
    const QColor color = QColorDialog::getColor(before, this, tr("Colour of %1").arg(name));
    if (color.isValid()) emit colorChosen(name, color);
}

void RunsPanel::putIntoQueue() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    try {
        queue_.enqueueRun(run->folder());
        emit said(tr("%1 waits in the queue").arg(run->name()));
    } catch (const Error& error) {
        emit said(QString::fromStdString(error.what()));
    }
}

void RunsPanel::send(Command command) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    if (run->status().control.empty()) {
        emit said(tr("%1 has no control socket on this machine; it can only be watched").arg(run->name()));
        return;
    }
    version_note_ = otherVersionNote(run->status());
    control_->send(QString::fromStdString(run->status().control), command);
}

void RunsPanel::continueSelected() {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    try {
        if (run->isSuspended())
            TrainerLauncher::wake(run->folder());
        else
            launcher_.resume(run->folder());
        emit said(tr("%1 continues").arg(run->name()));
    } catch (const Error& error) {
        emit said(QString::fromStdString(error.what()));
    }
}

void RunsPanel::showButtons() {
    const RunWatcher* run = selected();
    const bool active = run != nullptr && run->isActive();
    const bool paused = run != nullptr && run->state() == RunState::paused;
    const bool finished = run != nullptr && run->state() == RunState::finished;
    pause_->setText(paused ? tr("Resume") : tr("Pause"));
    const bool suspended = run != nullptr && run->isSuspended();
    for (QPushButton* button : {pause_, stop_, checkpoint_})
        button->setEnabled(active && !suspended);
    const bool can_start = run != nullptr && !active && !finished && run->specification().has_value();
    continue_->setEnabled(suspended || can_start);
    const QString detail = run != nullptr ? noticeOf(*run) : QString();
    detail_->setText(detail);
    detail_->setVisible(!detail.isEmpty());
}

void RunsPanel::openMenu(const QPoint& at) {
    const RunWatcher* run = selected();
    if (run == nullptr) return;
    QMenu menu(this);
    menu.addAction(tr("Open folder"), this, &RunsPanel::openFolder);
    QAction* rename = menu.addAction(tr("Rename…"), this, &RunsPanel::askForName);
    menu.addAction(tr("Colour…"), this, &RunsPanel::askForColor);
    QAction* queue = menu.addAction(tr("Put into the queue"), this, &RunsPanel::putIntoQueue);
    rename->setEnabled(!run->isActive());
    queue->setEnabled(continue_->isEnabled() && queue_.placeOf(run->folder().name()) < 0);
    QAction* remove = menu.addAction(tr("Move to trash"), this, &RunsPanel::discard);
    const auto chosen = allSelected();
    remove->setEnabled(
        std::any_of(chosen.begin(), chosen.end(), [](const RunWatcher* each) { return !each->isActive(); }));
    menu.exec(table_->viewport()->mapToGlobal(at));
}

void RunsPanel::openFolder() {
    if (const RunWatcher* run = selected())
        QDesktopServices::openUrl(QUrl::fromLocalFile(QString::fromStdString(run->folder().path().string())));
}

void RunsPanel::discard() {
    std::vector<std::string> names;
    for (const RunWatcher* run : allSelected())
        names.push_back(run->folder().name());
    state_.edits().discard(names);
}

}  // namespace roper
