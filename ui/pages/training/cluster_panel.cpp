#include "ui/pages/training/cluster_panel.h"

#include <QHeaderView>
#include <QMessageBox>
#include <algorithm>

#include "core/base/text.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"

namespace roper {
namespace {

constexpr std::size_t kMaxNamed = 5;  // maximum number of runs named in a question

bool isPendingOrRunning(const SweepRunStatus& one) {
    return one.array_task.has_value();
}

bool isRunningInSlurm(const SweepRunStatus& one) {
    return one.array_task && one.array_task->state == "RUNNING";
}

bool isToBeSubmitted(const SweepRunStatus& one) {
    return !runsToSubmit({one}).empty();
}

}  // namespace

ClusterPanel::ClusterPanel(const std::filesystem::path& runs, QWidget* parent)
    : QWidget(parent),
      watch_(new ClusterWatch(runs, this)),
      grid_(new SweepGridView(this)),
      list_(named(new QTreeWidget, tr("Runs on the cluster, one by one"),
                  tr("Select several with Shift or Ctrl; double-click to show the run"))),
      summary_(wrappedLabel()),
      problem_(messageLabel()) {
    list_->setHeaderLabels({tr("Run"), tr("Status")});
    list_->setRootIsDecorated(false);
    list_->setUniformRowHeights(true);
    list_->setTextElideMode(Qt::ElideMiddle);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->header()->setSectionResizeMode(0, QHeaderView::Interactive);
    list_->header()->setStretchLastSection(true);
    grid_->setEmptyText(
        tr("Runs submitted to a cluster appear here. To submit runs, use “roper-train sweep FILE --slurm” on "
           "one of its login nodes."));
    cancel_ = narrowButton(
        {tr("Cancel")},
        tr("Cancel the selected runs that you submitted to Slurm; their training progress is kept"), this,
        [this] { cancelSelected(); });
    requeue_ = narrowButton({tr("Requeue")},
                            tr("Save the selected runs that you submitted and that are running, and put them "
                               "back into Slurm's queue"),
                            this, [this] { watch_->requeue(selectedIf(isRunningInSlurm)); });
    submit_ = narrowButton(
        {tr("Submit again")},
        tr("Submit the selected missing runs to Slurm again, with the options of your last submission"), this,
        [this] { watch_->submit(selectedIf(isToBeSubmitted)); });
    columnOf({{makeSplitter(Qt::Vertical, {grid_, list_}, {}, 1), 1},
              rowOf({cancel_, requeue_, submit_}),
              summary_,
              problem_},
             this)
        ->setContentsMargins(0, 4, 0, 0);
    connect(watch_, &ClusterWatch::changed, this, &ClusterPanel::showWatched);
    connect(watch_, &ClusterWatch::reported, this, &ClusterPanel::reported);
    connect(grid_, &FigureView::hovered, this, &ClusterPanel::hovered);
    connect(grid_, &SweepGridView::clicked, this, [this](const QString& run) {
        for (QTreeWidgetItem* item : list_->findItems(run, Qt::MatchExactly)) {
            list_->setCurrentItem(item);
            list_->scrollToItem(item);
        }
    });
    connect(list_, &QTreeWidget::itemSelectionChanged, this, [this] {
        grid_->setChosen(selected());
        showButtons();
    });
    connect(list_, &QTreeWidget::itemDoubleClicked, this,
            [this](QTreeWidgetItem* item, int) { emit runRequested(item->text(0)); });
    showWatched();
}

void ClusterPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    watch_->setWatching(true);
}

void ClusterPanel::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    watch_->setWatching(false);
}

std::vector<std::string> ClusterPanel::selectedIf(bool (*fits)(const SweepRunStatus&)) const {
    const std::vector<std::string> chosen = selected();
    std::vector<std::string> runs;
    for (const SweepRunStatus& one : watch_->view().runs)
        if (fits(one) && hasElement(chosen, one.run)) runs.push_back(one.run);
    return runs;
}

/// Asks first if the array tasks of the selected runs contain other runs as well.
void ClusterPanel::cancelSelected() {
    const std::vector<std::string> runs = selectedIf(isPendingOrRunning),
                                   others = watch_->otherRunsInTasksOf(runs);
    const std::vector<SlurmArrayTask> array_tasks = watch_->arrayTasksOf(runs);
    if (others.empty()) return watch_->cancel(array_tasks);
    auto* question = new QMessageBox(this);
    question->setObjectName(QStringLiteral("cancel_question"));
    question->setAttribute(Qt::WA_DeleteOnClose);
    question->setIcon(QMessageBox::Question);
    question->setWindowTitle(tr("Cancel"));
    question->setText(tr("Your selection shares a Slurm array task with %1, which will also be cancelled.")
                          .arg(QString::fromStdString(countOf(others.size(), "other run"))));
    const auto named = std::min(others.size(), kMaxNamed);
    const std::string names =
        join({others.begin(), others.begin() + static_cast<std::ptrdiff_t>(named)}, "\n");
    question->setInformativeText(
        tr("%1\n\nTheir training progress is kept, and they can be submitted again.")
            .arg(QString::fromStdString(names + (named < others.size() ? "\n…" : ""))));
    auto* agree = question->addButton(tr("Cancel all"), QMessageBox::AcceptRole);
    question->setDefaultButton(question->addButton(tr("Keep them"), QMessageBox::RejectRole));
    connect(agree, &QPushButton::clicked, this, [this, array_tasks] { watch_->cancel(array_tasks); });
    question->open();
}

void ClusterPanel::show(const ClusterView& view) {
    grid_->show(view.runs);
    const auto count = static_cast<int>(view.runs.size());
    const bool is_new = list_->topLevelItemCount() != count;
    while (list_->topLevelItemCount() > count)
        delete list_->takeTopLevelItem(list_->topLevelItemCount() - 1);
    while (list_->topLevelItemCount() < count)
        new QTreeWidgetItem(list_);
    for (int i = 0; i < count; ++i) {
        const SweepRunStatus& one = view.runs[static_cast<std::size_t>(i)];
        QTreeWidgetItem* item = list_->topLevelItem(i);
        const QString name = QString::fromStdString(one.run),
                      where = QString::fromStdString(one.describe()).simplified();
        item->setText(0, name);
        item->setData(0, kNameRole, name);
        item->setText(1, where);
        item->setToolTip(0, name);
        item->setToolTip(1, where);
    }
    if (is_new) {
        list_->resizeColumnToContents(0);
        list_->header()->resizeSection(0, std::min(list_->columnWidth(0), list_->width() / 2));
    }
    setTextOrHide(*summary_, count > 0 ? QString::fromStdString(summaryOf(view.runs)) : QString());
}

void ClusterPanel::showWatched() {
    show(watch_->view());
    const QString& problem = watch_->problem();
    setTextOrHide(*problem_, problem.isEmpty() ? QString() : tr("Slurm status unavailable: %1").arg(problem));
    showButtons();
}

void ClusterPanel::showButtons() {
    cancel_->setEnabled(!watch_->arrayTasksOf(selectedIf(isPendingOrRunning)).empty());
    requeue_->setEnabled(!watch_->arrayTasksOf(selectedIf(isRunningInSlurm)).empty());
    submit_->setEnabled(!selectedIf(isToBeSubmitted).empty());
}

}  // namespace roper
