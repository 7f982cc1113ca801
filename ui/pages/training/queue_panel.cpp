#include "ui/pages/training/queue_panel.h"

#include <QDesktopServices>
#include <QDropEvent>
#include <QHeaderView>
#include <QMenu>
#include <QShortcut>
#include <QUrl>
#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/runs/queue_approval.h"
#include "ui/controls/layout_helpers.h"
#include "ui/controls/narrow_controls.h"
#include "ui/live/run_store.h"
#include "ui/live/run_texts.h"
#include "ui/theme/error_text.h"
#include "ui/theme/numbers.h"

namespace roper {
namespace {

constexpr int kEstimate_ms = 2000;  // between updates of the remaining time and the load

}  // namespace

void QueueList::dropEvent(QDropEvent* event) {
    QTreeWidget::dropEvent(event);
    emit dropped();
}

QueuePanel::QueuePanel(TrainingState& state, QWidget* parent)
    : QWidget(parent),
      state_(state),
      queue_(state.queue()),
      store_(state.store()),
      list_(named(new QueueList, tr("Queue"),
                  tr("Drag runs to reorder them; select several with Shift or Ctrl"))),
      at_once_(named(new QSpinBox, tr("Trainers at the same time"), tr("They share the cores evenly"))),
      problem_(messageLabel()),
      time_left_(wrappedLabel()),
      load_(wrappedLabel()) {
    list_->setHeaderLabels({tr("Next"), tr("State")});
    list_->setRootIsDecorated(false);
    list_->setTextElideMode(Qt::ElideMiddle);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setDragDropMode(QAbstractItemView::InternalMove);
    list_->setContextMenuPolicy(Qt::CustomContextMenu);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    up_ = makeButton({tr("Up")}, tr("Train it earlier"), [this] { state_.edits().move(selected(), -1); });
    down_ = makeButton({tr("Down")}, tr("Train it later"), [this] { state_.edits().move(selected(), 1); });
    hold_ = makeButton({tr("Hold"), tr("Release")}, tr("Keep it in the queue without training it"),
                       [this] { toggleHold(); });
    remove_ = makeButton({tr("Remove")},
                         tr("Remove it from the queue; a run that never started is moved to the trash"),
                         [this] { state_.edits().remove(selected()); });
    clear_ =
        makeButton({tr("Clear")}, tr("Remove all runs that are not training yet from the queue"), [this] {
            std::vector<std::string> waiting;
            for (const std::string& name : listed()) {
                const RunWatcher* run = store_.find(QString::fromStdString(name));
                if (run == nullptr || !run->isActive()) waiting.push_back(name);
            }
            state_.edits().remove(waiting);
        });
    at_once_->setRange(1, 256);
    at_once_->setKeyboardTracking(false);
    connect(at_once_, &QSpinBox::valueChanged, this, [this](int trainers) {
        if (trainers == queue_.queue().max_trainers) return;
        attempt([&] { queue_.change([&](RunQueue& queue) { queue.max_trainers = trainers; }); });
    });
    approve_ = makeButton({tr("Train them")},
                          tr("Train all runs that are waiting in this queue now, whoever queued them"),
                          [this] { queue_.approve(); });
    columnOf({{list_, 1},
              rowOf({up_, down_, hold_, remove_, clear_}),
              rowOf({at_once_, new QLabel(tr("at the same time")), kSpacer}),
              time_left_,
              load_,
              problem_,
              {approve_, 0, Qt::AlignLeft}},
             this)
        ->setContentsMargins(0, 4, 0, 0);
    connect(&queue_, &QueueLauncher::changed, this, &QueuePanel::showQueue);
    connect(&store_, &RunStore::changed, this, &QueuePanel::showQueue);
    connect(&store_, &RunStore::runAdded, this, &QueuePanel::showQueue);
    connect(&store_, &RunStore::titlesChanged, this, &QueuePanel::showQueue);
    connect(list_, &QTreeWidget::itemSelectionChanged, this, &QueuePanel::showButtons);
    connect(list_, &QueueList::dropped, this, [this] { state_.edits().setOrder(listed()); });
    connect(list_, &QTreeWidget::customContextMenuRequested, this, &QueuePanel::openMenu);
    auto* remove_key = new QShortcut(QKeySequence::Delete, list_);
    remove_key->setContext(Qt::WidgetShortcut);
    connect(remove_key, &QShortcut::activated, this, [this] { state_.edits().remove(selected()); });
    load_->setAccessibleName(tr("How busy this machine is"));
    connect(&estimate_timer_, &QTimer::timeout, this, [this] {
        if (!isVisible()) return;
        time_left_->setText(timeLeft());
        load_->setText(load());
    });
    estimate_timer_.start(kEstimate_ms);
    estimate_delay_.setSingleShot(true);
    connect(&estimate_delay_, &QTimer::timeout, this, [this] {
        if (isVisible()) time_left_->setText(timeLeft());
    });
    showQueue();
}

void QueuePanel::attempt(const std::function<void()>& act) {
    if (const QString problem = errorOf(act); !problem.isEmpty()) emit reported(problem);
}

QPushButton* QueuePanel::makeButton(const QStringList& texts, const QString& help,
                                    const std::function<void()>& act) {
    return narrowButton(texts, help, this, [this, act] { attempt(act); });
}

std::vector<std::string> QueuePanel::listed() const {
    std::vector<std::string> runs;
    for (int i = 0; i < list_->topLevelItemCount(); ++i)
        runs.push_back(nameOf(*list_->topLevelItem(i)));
    return runs;
}

void QueuePanel::select(const std::vector<std::string>& runs) {
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = list_->topLevelItem(i);
        item->setSelected(hasElement(runs, nameOf(*item)));
    }
}

QString QueuePanel::timeLeft() const {
    const RunQueue& queue = queue_.queue();
    if (queue.entries.empty()) return {};
    const StepTimes times(recordsOf(store_), readSpeeds(store_.folder()));
    ExpectedTime sum;
    double longest = 0;
    int counted_runs = 0;
    for (const RunQueue::Entry& entry : queue.entries) {
        const RunWatcher* run = store_.find(QString::fromStdString(entry.run));
        if (entry.on_hold || run == nullptr || !run->specification()) continue;
        const ExpectedTime time = times.estimate(*run->specification(), run->step());
        sum.seconds += time.seconds;
        sum.basis = std::max(sum.basis, time.basis);
        longest = std::max(longest, time.seconds);
        ++counted_runs;
    }
    if (counted_runs == 0) return {};
    // Trainers on different GPUs do not slow each other down; those on the same CPU share its cores.
    if (queue.devices.size() > 1)
        sum.seconds = std::max(longest, sum.seconds / static_cast<double>(queue.devices.size()));
    return tr("%1 to train: %2, done %3")
        .arg(countText(counted_runs, tr("run")), expectedTimeText(sum), clockTimeText(sum.seconds));
}

QString QueuePanel::load() {
    const auto gigabytes = [](double bytes) { return numberText(bytes / 1e9, bytes < 10e9 ? 2 : 3); };
    const MachineLoad load = load_reader_.read();
    QStringList parts;
    if (load.cpu) parts << tr("CPU %1 %").arg(std::lround(100 * *load.cpu));
    if (load.memory_total > 0)
        parts << tr("memory %1 of %2 GB").arg(gigabytes(load.memory_used), gigabytes(load.memory_total));
    for (const MachineLoad::Gpu& gpu : load.gpus) {
        QString text = QString::fromStdString(gpu.name);
        if (gpu.busy) text += tr(" %1 %").arg(std::lround(100 * *gpu.busy));
        if (gpu.memory_total > 0)
            text += tr(", %1 of %2 GB").arg(gigabytes(gpu.memory_used), gigabytes(gpu.memory_total));
        parts << text;
    }
    return parts.join(QStringLiteral("    "));
}

void QueuePanel::showQueue() {
    const RunQueue& queue = queue_.queue();
    const std::vector<std::string> kept = selected();
    while (list_->topLevelItemCount() > static_cast<int>(queue.entries.size()))
        delete list_->takeTopLevelItem(list_->topLevelItemCount() - 1);
    while (list_->topLevelItemCount() < static_cast<int>(queue.entries.size()))
        new QTreeWidgetItem(list_);
    for (std::size_t i = 0; i < queue.entries.size(); ++i) {
        const RunQueue::Entry& entry = queue.entries[i];
        QTreeWidgetItem* item = list_->topLevelItem(static_cast<int>(i));
        item->setFlags(item->flags() &
                       ~Qt::ItemIsDropEnabled);  // runs are dropped between others, not onto them
        const QString name = QString::fromStdString(entry.run);
        const RunWatcher* run = store_.find(name);
        const QString state = run == nullptr ? tr("no such run")
                              : queue_.needsApproval(entry.run)
                                  ? tr("awaiting approval")
                                  : QString::fromStdString(stateName(run->state()));
        item->setText(0, store_.titleOf(name));
        item->setToolTip(0, name);
        item->setData(0, kNameRole, name);
        item->setText(1, entry.on_hold ? tr("held") : state);
    }
    if (selected() != kept) select(kept);
    std::vector<std::string> runs;
    for (const RunQueue::Entry& entry : queue.entries)
        if (!entry.on_hold && store_.find(QString::fromStdString(entry.run)) != nullptr)
            runs.push_back(entry.run);
    if (runs != estimated_runs_) estimate_delay_.start();  // one update for several changes
    estimated_runs_ = std::move(runs);
    at_once_->setValue(queue.max_trainers);
    at_once_->setEnabled(queue.devices.empty());
    const std::vector<WaitingRun>& unapproved = queue_.runsAwaitingApproval();
    setTextOrHide(*problem_,
                  !queue_.problem().isEmpty() ? queue_.problem()
                  : !unapproved.empty()
                      ? tr("%1. Runs that you did not queue are trained only with your approval.")
                            .arg(QString::fromStdString(describeUnapproved(unapproved)))
                  : queue.entries.empty()
                      ? tr("The queue is empty. “Queue twins” adds RoPE and RoPER for several seeds; "
                           "queued runs are trained one after the other, even if this window is closed.")
                      : QString());
    approve_->setVisible(!unapproved.empty() && queue_.problem().isEmpty());
    showButtons();
}

void QueuePanel::showButtons() {
    const std::vector<std::string> chosen = selected();
    const auto& entries = queue_.queue().entries;
    const auto is_chosen = [&](const RunQueue::Entry& entry) { return hasElement(chosen, entry.run); };
    const auto count = static_cast<std::ptrdiff_t>(chosen.size());
    // Whether some chosen run has a neighbor before or after it that is not chosen.
    up_->setEnabled(
        count > 0 &&
        !std::all_of(entries.begin(), entries.begin() + std::min(count, std::ssize(entries)), is_chosen));
    down_->setEnabled(count > 0 && !std::all_of(entries.end() - std::min(count, std::ssize(entries)),
                                                entries.end(), is_chosen));
    hold_->setEnabled(count > 0);
    remove_->setEnabled(count > 0);
    clear_->setEnabled(!entries.empty());
    const bool all_held = count > 0 && std::ranges::all_of(entries, [&](const auto& entry) {
                              return entry.on_hold || !is_chosen(entry);
                          });
    hold_->setText(all_held ? tr("Release") : tr("Hold"));
}

/// Releases the chosen runs if all of them are held; otherwise holds them all.
void QueuePanel::toggleHold() {
    const bool hold = hold_->text() == tr("Hold");
    const std::vector<std::string> chosen = selected();
    queue_.change([&](RunQueue& queue) {
        for (RunQueue::Entry& entry : queue.entries)
            if (hasElement(chosen, entry.run)) entry.on_hold = hold;
    });
}

void QueuePanel::openMenu(const QPoint& at) {
    QMenu menu(this);
    for (QPushButton* button : {up_, down_, hold_, remove_, clear_}) {
        QAction* action = menu.addAction(button->text(), button, &QPushButton::click);
        action->setEnabled(button->isEnabled());
    }
    menu.addSeparator();
    const QString file = QString::fromStdString(queuePath(store_.folder()).string());
    menu.addAction(tr("Open the file"), [file] { QDesktopServices::openUrl(QUrl::fromLocalFile(file)); })
        ->setToolTip(tr("queue.toml in the runs folder: edit it in any editor"));
    menu.exec(list_->viewport()->mapToGlobal(at));
}

}  // namespace roper
