#pragma once

#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <functional>

namespace roper {

/// All actions of the program in one list, which feeds menus, shortcuts and the command palette.
class Actions : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    /// @param group  menu of the action ("Go", "Training", …)
    QAction* add(const QString& group, const QString& text, const QKeySequence& shortcut,
                 std::function<void()> run);

    const QList<QAction*>& all() const { return all_; }
    QList<QAction*> inGroup(const QString& group) const;
    QString groupOf(const QAction* action) const { return action->data().toString(); }

  private:
    QList<QAction*> all_;
};

}  // namespace roper
