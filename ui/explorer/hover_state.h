#pragma once

#include <QObject>
#include <optional>

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

}  // namespace roper
