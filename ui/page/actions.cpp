#include "ui/page/actions.h"

namespace roper {

QAction* Actions::add(const QString& group, const QString& text, const QKeySequence& shortcut,
                      std::function<void()> run) {
    auto* action = new QAction(text, this);
    action->setShortcut(shortcut);
    action->setData(group);
    connect(action, &QAction::triggered, this, [run = std::move(run)] { run(); });
    all_.append(action);
    return action;
}

QList<QAction*> Actions::inGroup(const QString& group) const {
    QList<QAction*> chosen;
    for (QAction* action : all_)
        if (groupOf(action) == group) chosen.append(action);
    return chosen;
}

}  // namespace roper
