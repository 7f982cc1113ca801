#include "ui/pages/training/queue_panel.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QUrl>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "ui/controls/narrow_button.h"
#include "ui/live/trash.h"
#include "ui/theme/plain_text.h"

namespace roper {
namespace {

constexpr int kNameRole = Qt::UserRole;

}  // namespace

QueuePanel::QueuePanel(QueueLauncher& queue, RunStore& store, QWidget* parent)
    : QWidget(parent),
      queue_(queue),
      store_(store),
      list_(new QTreeWidget),
      at_once_(new QSpinBox),
      problem_(makePlainLabel()) {
    list_->setHeaderLabels({tr("Next"), tr("State")});
    list_->setRootIsDecorated(false);
    list_->setAccessibleName(tr("Queue"));
    list_->setTextElideMode(Qt::ElideLeft);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    up_ = makeButton({tr("Up")}, tr("Train it earlier"), [this] { queue_.move(selected(), -1); });
    down_ = makeButton({tr("Down")}, tr("Train it later"), [this] { queue_.move(selected(), 1); });
    hold_ = makeButton({tr("Hold"), tr("Release")}, tr("Keep it in the queue without training it"),
                       [this] { toggleHold(); });
    remove_ =
        makeButton({tr("Remove")}, tr("Take it out of the queue; a run that never began goes to the trash"),
                   [this] { removeSelected(); });
    auto* file = makeButton({tr("Open the file")}, tr("queue.toml in the runs folder: edit it in any editor"),
                            [this] { openFile(); });
    at_once_->setRange(1, 256);
    at_once_->setAccessibleName(tr("Trainers at the same time"));
    at_once_->setToolTip(tr("They share the cores evenly"));
    at_once_->setKeyboardTracking(false);
    connect(at_once_, &QSpinBox::valueChanged, this, [this](int trainers) {
        try {
            if (trainers != queue_.queue().at_once) queue_.setAtOnce(trainers);
        } catch (const Error& error) {
            emit said(QString::fromStdString(error.what()));
        }
    });
    accept_ = makeButton({tr("Train this queue")}, tr("From now on this folder is treated as your own"),
                         [this] { queue_.accept(); });
    problem_->setWordWrap(true);
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {up_, down_, hold_, remove_, file})
        buttons->addWidget(button);
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(at_once_);
    bottom->addWidget(new QLabel(tr("at the same time")));
    bottom->addStretch();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 4, 0, 0);
    layout->addWidget(list_, 1);
    layout->addLayout(buttons);
    layout->addLayout(bottom);
    layout->addWidget(problem_);
    layout->addWidget(accept_, 0, Qt::AlignLeft);
    connect(&queue_, &QueueLauncher::changed, this, &QueuePanel::showQueue);
    connect(&store_, &RunStore::changed, this, &QueuePanel::showQueue);
    connect(list_, &QTreeWidget::itemSelectionChanged, this, &QueuePanel::showButtons);
    showQueue();
}

QPushButton* QueuePanel::makeButton(const QStringList& texts, const QString& help,
                                    const std::function<void()>& act) {
    auto* button = new NarrowButton(texts);
    button->setToolTip(help);
    connect(button, &QPushButton::clicked, this, [this, act] {
        try {
            act();
        } catch (const Error& error) {
            emit said(QString::fromStdString(error.what()));
        }
    });
    return button;
}

QPushButton* QueuePanel::button(const QString& text) const {
    for (auto* button : findChildren<QPushButton*>())
        if (button->text() == text) return button;
    return nullptr;
}

std::string QueuePanel::selected() const {
    const auto items = list_->selectedItems();
    return items.isEmpty() ? std::string() : items.front()->data(0, kNameRole).toString().toStdString();
}

void QueuePanel::select(const std::string& run) {
    for (int i = 0; i < list_->topLevelItemCount(); ++i)
        if (list_->topLevelItem(i)->data(0, kNameRole).toString().toStdString() == run)
            list_->setCurrentItem(list_->topLevelItem(i));
}

void QueuePanel::showQueue() {
    const RunQueue& queue = queue_.queue();
    while (list_->topLevelItemCount() > static_cast<int>(queue.entries.size()))
        delete list_->takeTopLevelItem(list_->topLevelItemCount() - 1);
    const std::string kept = selected();
    while (list_->topLevelItemCount() < static_cast<int>(queue.entries.size()))
        new QTreeWidgetItem(list_);
    for (std::size_t i = 0; i < queue.entries.size(); ++i) {
        const RunQueue::Entry& entry = queue.entries[i];
        QTreeWidgetItem* item = list_->topLevelItem(static_cast<int>(i));
        const QString name = QString::fromStdString(entry.run);
        const RunWatcher* run = store_.find(name);
        const QString state =
            run == nullptr ? tr("no such run") : QString::fromStdString(stateName(run->state()));
        item->setText(0, name);
        item->setToolTip(0, name);
        item->setData(0, kNameRole, name);
        item->setText(1, entry.held ? tr("held") : state);
    }
    if (!kept.empty() && queue_.placeOf(kept) >= 0) select(kept);
    at_once_->setValue(queue.at_once);
    at_once_->setEnabled(queue.devices.empty());
    problem_->setText(
        !queue_.problem().isEmpty() ? queue_.problem()
        : queue_.waitsForWord()
            ? tr("These runs wait in a queue that you did not make here: it came with the "
                 "folder. Nothing of it is trained unless you say so.")
        : queue.entries.empty()
            ? tr("Nothing waits. “Queue twins” puts RoPE and RoPER here for several seeds; what is "
                 "here is trained one after the other, even if this window is closed.")
            : QString());
    problem_->setVisible(!problem_->text().isEmpty());
    accept_->setVisible(queue_.waitsForWord() && queue_.problem().isEmpty());
    showButtons();
}

void QueuePanel::showButtons() {
    const std::string run = selected();
    const int place = run.empty() ? -1 : queue_.placeOf(run);
    const auto count = static_cast<int>(queue_.queue().entries.size());
    up_->setEnabled(place > 0);
    down_->setEnabled(place >= 0 && place + 1 < count);
    hold_->setEnabled(place >= 0);
    remove_->setEnabled(place >= 0);
    const bool held = place >= 0 && queue_.queue().entries[static_cast<std::size_t>(place)].held;
    hold_->setText(held ? tr("Release") : tr("Hold"));
}

void QueuePanel::toggleHold() {
    const std::string run = selected();
    const int place = queue_.placeOf(run);
    if (place >= 0) queue_.setHeld(run, !queue_.queue().entries[static_cast<std::size_t>(place)].held);
}

void QueuePanel::removeSelected() {
    const std::string name = selected();
    queue_.remove(name);
    const RunWatcher* run = store_.find(QString::fromStdString(name));
    if (run != nullptr && run->isActive())
        emit said(tr("%1 is out of the queue and trains on; “Stop” among the runs ends it").arg(run->name()));
    if (run == nullptr || run->state() != RunState::queued || run->step() > 0) return;
    if (moveToTrash(run->folder())) store_.refresh();
}

void QueuePanel::openFile() {
    QDesktopServices::openUrl(
        QUrl::fromLocalFile(QString::fromStdString(queuePath(store_.folder()).string())));
}

}  // namespace roper
