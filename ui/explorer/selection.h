#pragma once

#include <QObject>
#include <QUndoStack>
#include <functional>

#include "core/explorer/setup.h"
#include "ui/explorer/pointing.h"

namespace roper {

/// The one shared selection. Pages change it through `set` and follow `changed`; every change can be undone.
class Selection : public QObject {
    Q_OBJECT

  public:
    explicit Selection(QObject* parent = nullptr);

    const Setup& setup() const { return setup_; }

    /// Puts values outside their bounds back inside them; says `changed` only if something is different.
    /// @param what  what is changed, for "Undo …": changes of the same thing in quick succession, such as a
    /// slider's, are undone together
    void set(const Setup& setup, const QString& what);
    /// The same for a part of the setup.
    void change(const QString& what, const std::function<void(Setup&)>& make);

    /// Sets without a step of undo: what is restored, what a run dictates.
    void replace(const Setup& setup);

    QUndoStack& history() { return history_; }

    /// What the pointer is on: shared like the selection, but nothing that lasts.
    Pointing& pointing() { return pointing_; }
    const Pointed& pointed() const { return pointing_.now(); }

  signals:
    void changed();

  private:
    friend class ChangeSetup;

    void apply(const Setup& setup);

    Setup setup_;
    QUndoStack history_;
    Pointing pointing_;
};

}  // namespace roper
