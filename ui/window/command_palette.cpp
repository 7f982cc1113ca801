#include "ui/window/command_palette.h"

#include <QKeyEvent>
#include <algorithm>

#include "ui/controls/layout_helpers.h"

namespace roper {

CommandPalette::CommandPalette(const Actions& actions, QWidget* parent)
    : QDialog(parent), actions_(actions), input_(new QLineEdit), list_(new QListWidget) {
    setWindowTitle(tr("Commands"));
    resize(480, 360);
    input_->setPlaceholderText(tr("Type a command…"));
    input_->setAccessibleName(tr("Command"));
    list_->setAccessibleName(tr("Matching commands"));
    columnOf({input_, list_}, this);
    input_->installEventFilter(this);
    connect(input_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(input_, &QLineEdit::returnPressed, this, &CommandPalette::runCurrent);
    connect(list_, &QListWidget::itemActivated, this, &CommandPalette::runCurrent);
    filter({});
}

void CommandPalette::filter(const QString& words) {
    list_->clear();
    const QStringList wanted = words.split(' ', Qt::SkipEmptyParts);
    for (QAction* action : actions_.all()) {
        const QString text = actions_.groupOf(action) + ": " + action->iconText();
        const bool matches = std::all_of(wanted.begin(), wanted.end(), [&](const QString& word) {
            return text.contains(word, Qt::CaseInsensitive);
        });
        if (!matches || !action->isEnabled()) continue;
        const QString shortcut = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(shortcut.isEmpty() ? text : text + "    " + shortcut, list_);
        item->setData(Qt::UserRole, QVariant::fromValue<QObject*>(action));
    }
    if (list_->count() == 0) {
        auto* nothing = new QListWidgetItem(
            tr("No command contains these words; other pages have their own commands"), list_);
        nothing->setFlags(Qt::NoItemFlags);
    }
    list_->setCurrentRow(0);
}

void CommandPalette::runCurrent() {
    const QListWidgetItem* item = list_->currentItem();
    if (item == nullptr) return;
    auto* action = qobject_cast<QAction*>(item->data(Qt::UserRole).value<QObject*>());
    if (action == nullptr) return;
    accept();
    action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int step = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (step != 0) {
            list_->setCurrentRow(std::clamp(list_->currentRow() + step, 0, std::max(0, list_->count() - 1)));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace roper
