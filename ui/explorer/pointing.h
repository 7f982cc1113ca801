#pragma once

#include <QObject>
#include <optional>

namespace roper {

/// The item under the pointer, in any figure.
struct Pointed {
    std::optional<int> pair = {}, query = {}, key = {};
    std::optional<int> distance = {};  ///< query − key
    std::optional<int> position = {};  ///< position in the sentence

    bool operator==(const Pointed&) const = default;
};

/// Tells all figures of the explorer pages which item is under the pointer, so that each can mark it.
class Pointing : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    const Pointed& now() const { return now_; }
    void set(const Pointed& pointed) {
        if (pointed == now_) return;
        now_ = pointed;
        emit changed();
    }
    void clear() { set({}); }

  signals:
    void changed();

  private:
    Pointed now_;
};

}  // namespace roper
