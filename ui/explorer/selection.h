#pragma once

#include <QObject>
#include <QUndoStack>
#include <functional>
#include <optional>

#include "core/explorer/setup.h"

namespace roper {

/// The item under the pointer, in any figure.
struct HoveredItem {
    std::optional<int> pair = {}, query = {}, key = {};
    std::optional<int> distance = {};  ///< query − key
    std::optional<int> position = {};  ///< position in the sentence

    bool operator==(const HoveredItem&) const = default;
};

/// Tells all figures of the explorer pages which item is under the pointer, so that each can mark it.
class HoverState : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    const HoveredItem& now() const { return now_; }
    void set(const HoveredItem& hovered) {
        if (hovered == now_) return;
        now_ = hovered;
        emit changed();
    }
    void clear() { set({}); }

  signals:
    void changed();

  private:
    HoveredItem now_;
};

/// The setup that all explorer pages share. They change it with `set` and follow `changed`; every such change
/// can be undone.
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

    /// Sets without an undo step, for restored setups and for settings that a run determines.
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
