#pragma once

#include <QObject>
#include <optional>

namespace roper {

/// What the pointer is on, in whichever picture.
struct Pointed {
    std::optional<int> pair = {}, query = {}, key = {};
    std::optional<int> distance = {};  ///< query − key
    std::optional<int> position = {};  ///< of the sentence

    bool operator==(const Pointed&) const = default;
};

/// Says to all pictures of the explorer pages what the pointer is on, so that each marks it where it shows
/// it.
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
