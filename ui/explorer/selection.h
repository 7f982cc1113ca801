#pragma once

#include <QObject>
#include <QUndoStack>
#include <functional>

#include "core/explorer/setup.h"
#include "ui/explorer/hover_state.h"

namespace roper {

/// The shared selection. Pages change it with `set` and follow `changed`; every change can be undone.
class Selection : public QObject {
    Q_OBJECT

  public:
    explicit Selection(QObject* parent = nullptr);

    const Setup& setup() const { return setup_; }

    /// Clamps values to their bounds; emits `changed` only if something has changed.
    /// @param what  name of the change, for "Undo …": quick successive changes with the same name, as from a
    /// slider, are undone together
    void set(const Setup& setup, const QString& what);
    /// The same for a part of the setup.
    void change(const QString& what, const std::function<void(Setup&)>& make);

    /// Sets without an undo step, for restored setups and those dictated by a run.
    void replace(const Setup& setup);

    QUndoStack& history() { return history_; }

    /// The item under the pointer: shared like the selection, but transient.
    HoverState& hoverState() { return hover_state_; }
    const HoveredItem& hovered() const { return hover_state_.now(); }

  signals:
    void changed();

  private:
    friend class ChangeSetup;

    void apply(const Setup& setup);

    Setup setup_;
    QUndoStack history_;
    HoverState hover_state_;
};

}  // namespace roper
