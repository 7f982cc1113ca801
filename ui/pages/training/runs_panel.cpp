#include "ui/pages/training/runs_panel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScopedValueRollback>
#include <QSettings>
#include <QShortcut>
#include <QStyledItemDelegate>
#include <QTimer>
#include <algorithm>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"
#include "ui/live/run_texts.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/error_text.h"
#include "ui/theme/zoom.h"

namespace roper {
namespace {

constexpr char kColumnsKey[] = "training/hidden_columns";

/// Omits the common prefix of experiment titles that do not fit, and elides all names in the middle, because
/// their ends distinguish them: method and seed, preset and setting.
class NameDelegate : public QStyledItemDelegate {
  public:
    NameDelegate(const RunsModel& model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

  protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        option->textElideMode = Qt::ElideMiddle;
        if (index.parent().isValid()) return;
        const QStyle& style = *option->widget->style();
        const int beside = style.pixelMetric(QStyle::PM_IndicatorWidth, option, option->widget) +
                           4 * (style.pixelMetric(QStyle::PM_FocusFrameHMargin, option, option->widget) + 1);
        const QString line = option->text.section('\n', 0, 0);
        const QString title = index.data(RunsModel::kTitleRole).toString();
        if (option->fontMetrics.horizontalAdvance(line) > option->rect.width() - beside)
            option->text.replace(title, withoutPrefix(title, model_.commonPrefixOfTitles()));
    }

  private:
    const RunsModel& model_;
};

}  // namespace

RunsPanel::RunsPanel(TrainingState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      store_(state.store()),
      model_(new RunsModel(state.store(), this)),
      proxy_(new RunFilterModel(*model_, this)),
      tree_(new QTreeView),
      filter_(named(
          new QLineEdit, tr("Filter runs"),
          tr("Words to find in the name, experiment, task, method, state, tags or note, and comparisons of "
             "any setting or of step, loss, solved, accuracy, last, best, seed, tag"))),
      detail_(messageLabel()),
      filter_problem_(wrappedLabel()),
      control_(new ControlClient(this)) {
    makeTree();
    filter_->setPlaceholderText(tr("words, position=roper, loss<0.6, seed<5, tag=…"));
    filter_problem_->hide();
    filter_->setClearButtonEnabled(true);
    detail_->setAccessibleName(tr("About the run"));
    columnOf({filter_, filter_problem_, {tree_, 1}, makeButtons(), detail_}, this)
        ->setContentsMargins(0, 0, 0, 0);

    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
        const QString problem = proxy_->setFilter(text);
        const bool is_empty = problem.isEmpty() && proxy_->rowCount() == 0 && !text.trimmed().isEmpty();
        setTextOrHide(*filter_problem_, is_empty ? tr("No run matches.") : problem);
        if (!text.trimmed().isEmpty()) tree_->expandAll();
        tree_->scrollToTop();
        // The selected run may no longer be listed, but charts require a listed one.
        if (selected() == nullptr) tree_->setCurrentIndex(proxy_->index(0, 0));
        emit selectionChanged();  // the first run of an experiment may have changed
        emit chartedChanged();
    });
    for (auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(proxy_, signal, this, &RunsPanel::chartedChanged);
    // A selected run that is visible stays visible when rows are sorted.
    connect(proxy_, &QAbstractItemModel::layoutAboutToBeChanged, this,
            [this] { current_was_visible_ = isRowVisible(tree_->currentIndex()); });
    connect(proxy_, &QAbstractItemModel::layoutChanged, this, [this] {
        if (current_was_visible_ && !isRowVisible(tree_->currentIndex())) scrollToCurrent();
    });
    for (auto signal : {&RunsModel::tickedChanged, &RunsModel::groupsChanged})
        connect(model_, signal, this, &RunsPanel::chartedChanged);
    connect(model_, &RunsModel::tickedChanged, this, &RunsPanel::showButtons);
    connect(&store_, &RunStore::changed, this, &RunsPanel::showButtons);
    connect(control_, &ControlClient::answered, this, [this](bool ok, const QString& message) {
        emit reported(ok ? message : tr("Failed: %1%2").arg(message, version_note_));
    });
    showButtons();
}

void RunsPanel::makeTree() {
    tree_->setModel(proxy_);
    tree_->setSortingEnabled(true);
    tree_->sortByColumn(RunsModel::name_column, Qt::DescendingOrder);
    tree_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    tree_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    tree_->setExpandsOnDoubleClick(false);
    tree_->setAlternatingRowColors(true);
    tree_->setItemDelegateForColumn(RunsModel::name_column, new NameDelegate(*model_, tree_));
    tree_->setAccessibleName(tr("Runs"));
    tree_->setContextMenuPolicy(Qt::CustomContextMenu);
    const auto size_columns = [this] {
        const QScopedValueRollback fits(is_resizing_columns_, true);
        const int widths[] = {200, 74, 76, 54, 58, 58, 58, 58, 124, 80, 240, 90};
        for (int column = 0; column < RunsModel::column_count; ++column)
            tree_->setColumnWidth(column, zoomed(widths[column]));
        tree_->setIndentation(zoomed(14));
    };
    size_columns();
    connect(&Zoom::instance(), &Zoom::changed, tree_, [this, size_columns] {
        size_columns();
        fitNameColumn();
    });
    const QVariant hidden = QSettings().value(kColumnsKey);
    for (int column = 1; column < RunsModel::column_count; ++column)
        tree_->setColumnHidden(column, hidden.isValid()
                                           ? hidden.toStringList().contains(QString::number(column))
                                           : column >= RunsModel::started_column);
    QHeaderView* header = tree_->header();
    header->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(header, &QHeaderView::customContextMenuRequested, this, &RunsPanel::openColumnMenu);
    connect(header, &QHeaderView::sectionResized, this, [this](int column) {
        if (column == RunsModel::name_column && !is_resizing_columns_) name_width_chosen_ = true;
    });
    connect(header, &QHeaderView::sortIndicatorChanged, this, &RunsPanel::chartedChanged);
    connect(tree_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
        showButtons();
        emit selectionChanged();
        emit chartedChanged();
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &RunsPanel::showButtons);
    connect(tree_, &QTreeView::customContextMenuRequested, this, &RunsPanel::openMenu);
    connect(tree_, &QTreeView::doubleClicked, this, [this](const QModelIndex& index) {
        if (const RunWatcher* run = model_->run(proxy_->mapToSource(index)))
            emit inspectRequested(run->name(), false);
        else
            tree_->setExpanded(index.siblingAtColumn(0), !tree_->isExpanded(index.siblingAtColumn(0)));
    });
    auto* trash_key = new QShortcut(QKeySequence::Delete, tree_);
    trash_key->setContext(Qt::WidgetShortcut);
    connect(trash_key, &QShortcut::activated, this, &RunsPanel::trashRuns);
    tree_->installEventFilter(this);
}

/// Sets the width of the name column so that no visible column is cut off, unless the user has set it.
void RunsPanel::fitNameColumn() {
    constexpr int kMinWidth = 140, kMaxWidth = 320;
    if (name_width_chosen_ || is_resizing_columns_) return;
    const QScopedValueRollback fits(is_resizing_columns_, true);
    const int room = tree_->viewport()->width();
    int others = 0;
    for (int column = 1; column < RunsModel::column_count; ++column) {
        const int width = tree_->columnWidth(column);  // 0 if it is hidden
        if (others + width + zoomed(kMinWidth) > room) break;
        others += width;
    }
    tree_->setColumnWidth(RunsModel::name_column,
                          std::clamp(room - others, zoomed(kMinWidth), zoomed(kMaxWidth)));
}

QStringList RunsPanel::experimentsOf(const std::vector<RunWatcher*>& runs) const {
    QStringList experiments;
    for (const RunWatcher* run : runs)
        if (const QString key = model_->experimentKeyOf(run->name()); !experiments.contains(key))
            experiments << key;
    return experiments;
}

bool RunsPanel::areTicked(const std::vector<RunWatcher*>& runs) const {
    return std::ranges::all_of(runs, [this](const RunWatcher* run) {
        return model_->ticked().contains(model_->experimentKeyOf(run->name()));
    });
}

/// Lets the space bar tick all selected experiments, where QTreeView would tick only the current one, and
/// keeps a visible selected run visible when the list shrinks.
bool RunsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == tree_ && event->type() == QEvent::Resize) {
        QTimer::singleShot(0, this, &RunsPanel::fitNameColumn);
        // The list has not been laid out for its new size yet.
        if (isRowVisible(tree_->currentIndex()))
            QTimer::singleShot(0, this, [this] {
                if (!isRowVisible(tree_->currentIndex())) scrollToCurrent();
            });
    }
    const auto* key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event) : nullptr;
    const bool is_space = key != nullptr && key->key() == Qt::Key_Space && key->modifiers() == Qt::NoModifier;
    if (watched != tree_ || !is_space) return QWidget::eventFilter(watched, event);
    toggleTicks();
    return true;
}

/// Ticks all selected experiments, or unticks them if all are ticked.
void RunsPanel::toggleTicks() {
    const auto runs = allSelected();
    if (!runs.empty()) model_->setTicked(runs, !areTicked(runs));
}

QWidget* RunsPanel::makeButtons() {
    pause_ = narrowButton({tr("Pause")}, tr("Pause after the current step; nothing is lost"), this,
                          [this] { send(Command::pause); });
    stop_ = narrowButton({tr("Stop")}, tr("Save a checkpoint and end; the run can be resumed"), this,
                         [this] { send(Command::stop); });
    checkpoint_ = narrowButton({tr("Checkpoint")}, tr("Save a checkpoint now"), this,
                               [this] { send(Command::checkpoint); });
    resume_ =
        narrowButton({tr("Resume")},
                     tr("Continue training: a paused run from where it is, a run that has ended from its "
                        "newest checkpoint"),
                     this, &RunsPanel::resumeSelected);
    return wrapInWidget(rowOf({pause_, resume_, stop_, checkpoint_}));
}

/// The run of a row, or the listed runs of an experiment.
std::vector<RunWatcher*> RunsPanel::listedUnder(const QModelIndex& index) const {
    if (RunWatcher* run = model_->run(proxy_->mapToSource(index))) return {run};
    std::vector<RunWatcher*> runs;
    for (int row = 0; row < proxy_->rowCount(index); ++row)
        runs.push_back(model_->run(proxy_->mapToSource(proxy_->index(row, 0, index))));
    return runs;
}

RunWatcher* RunsPanel::selected() const {
    const QModelIndex current = tree_->currentIndex().siblingAtColumn(0);
    if (!current.isValid()) return nullptr;
    const auto runs = listedUnder(current);
    return runs.empty() ? nullptr : runs.front();
}

std::vector<RunWatcher*> RunsPanel::allSelected() const {
    std::vector<RunWatcher*> runs;
    for (const QModelIndex& row : tree_->selectionModel()->selectedRows())
        for (RunWatcher* run : listedUnder(row))
            if (!hasElement(runs, run)) runs.push_back(run);
    return runs;
}

bool RunsPanel::isRowVisible(const QModelIndex& index) const {
    const QRect row = tree_->visualRect(index);
    return !row.isEmpty() && tree_->viewport()->rect().contains(row.center());
}

void RunsPanel::select(const QString& name) {
    const QModelIndex index = proxy_->mapFromSource(model_->indexOf(name));
    if (!index.isValid()) return;
    tree_->expand(index.parent());
    tree_->setCurrentIndex(index);
    scrollToCurrent();
}

/// Scrolls to the current run and, if there is room for both, to the row of its experiment.
void RunsPanel::scrollToCurrent() {
    const QModelIndex current = tree_->currentIndex();
    if (!current.isValid() ||
        (isRowVisible(current) && (!current.parent().isValid() || isRowVisible(current.parent()))))
        return;
    tree_->scrollTo(current.parent(), QAbstractItemView::PositionAtTop);
    tree_->scrollTo(current);
}

/// Scrolls to the selection when the list is first shown, because it had no size before. Later, the user's
/// scroll position is kept.
void RunsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!was_shown_) QTimer::singleShot(0, this, &RunsPanel::scrollToCurrent);
    was_shown_ = true;
}

/// True for the experiment of the selected run and for ticked experiments.
bool RunsPanel::isCharted(const QString& experiment) const {
    const RunWatcher* current = selected();
    return model_->ticked().contains(experiment) ||
           (current != nullptr && model_->experimentKeyOf(current->name()) == experiment);
}

QStringList RunsPanel::charted() const {
    const RunWatcher* current = selected();
    QStringList names;
    if (current != nullptr) names << current->name();
    for (int row = 0; row < proxy_->rowCount(); ++row) {
        const auto runs = listedUnder(proxy_->index(row, 0));
        if (runs.empty() || !isCharted(model_->experimentKeyOf(runs.front()->name()))) continue;
        for (const RunWatcher* run : runs)
            if (!names.contains(run->name())) names << run->name();
    }
    return names;
}

void RunsPanel::send(Command command) {
    for (const RunWatcher* run : allSelected())
        if (run->isActive()) send(command, *run);
}

void RunsPanel::send(Command command, const RunWatcher& run) {
    if (run.status().control.empty())
        return emit reported(tr("%1 has no control socket on this machine; it can only be watched")
                                 .arg(store_.titleOf(run.name())));
    version_note_ = otherVersionNote(run.status());
    control_->send(QString::fromStdString(run.status().control), command);
}

bool RunsPanel::canResume(const RunWatcher& run) const {
    if (run.isSuspended() || run.state() == RunState::paused) return true;
    return !run.isActive() && run.state() != RunState::finished && run.specification().has_value();
}

/// False for queued runs and runs with a trainer, even if paused or suspended.
bool RunsPanel::canBeQueued(const RunWatcher& run) const {
    return !run.isActive() && run.state() != RunState::finished && run.specification().has_value() &&
           state_.queue().queuePosition(run.folder().name()) < 0;
}

void RunsPanel::resumeSelected() {
    for (const RunWatcher* run : allSelected()) {
        if (!canResume(*run)) continue;
        if (run->isActive() && !run->isSuspended()) {
            send(Command::resume, *run);  // the answer is reported asynchronously
            continue;
        }
        const QString problem = errorOf([&] {
            if (run->isSuspended())
                TrainerLauncher::continueSuspended(run->folder());
            else
                state_.launcher().resume(run->folder());
        });
        if (!problem.isEmpty())
            emit reported(problem);
        else if (run->state() == RunState::unfinished)
            emit reported(tr("%1 resumes from its newest checkpoint, to step %2")
                              .arg(store_.titleOf(run->name()))
                              .arg(run->steps()));
        else
            emit reported(tr("%1 is training again").arg(store_.titleOf(run->name())));
    }
}

void RunsPanel::showButtons() {
    const auto runs = allSelected();
    const auto any = [&](auto holds) { return std::ranges::any_of(runs, holds); };
    const auto follows_commands = [](const RunWatcher* run) {
        return run->isActive() && !run->isSuspended();
    };
    pause_->setEnabled(
        any([](const RunWatcher* run) { return run->state() == RunState::running && !run->isSuspended(); }));
    for (QPushButton* button : {stop_, checkpoint_})
        button->setEnabled(any(follows_commands));
    resume_->setEnabled(any([this](const RunWatcher* run) { return canResume(*run); }));
    QStringList details;
    if (const RunWatcher* run = selected())
        if (const QString notice = noticeOf(*run); !notice.isEmpty()) details << notice;
    const QStringList experiments = experimentsOf(runs);
    if (experiments.size() > 1 &&
        !std::ranges::all_of(experiments, [this](const QString& key) { return isCharted(key); }))
        details << tr("%1 experiments are selected: press the space bar to show them all in the charts.")
                       .arg(experiments.size());
    setTextOrHide(*detail_, details.join('\n'));
}

}  // namespace roper
