#pragma once

#include <QObject>

#include "core/rotary/rotation.h"

namespace roper {

/// What runs through all pages: change the page, keep your place.
struct Setup {
    int head_dim = 4;
    double base = 10000.0;
    Schedule schedule = Schedule::standard;
    Pairing pairing = Pairing::half;
    double position = 0;
    int pair = 0;

    bool operator==(const Setup&) const = default;

    /// The rotation of this setup: all features turn.
    Rotary rotary() const { return makeRotary(head_dim, pairing, base, schedule); }
};

/// The one shared selection. Pages change it through `set` and follow `changed`.
class Selection : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

    const Setup& setup() const { return setup_; }

    /// Puts values outside their bounds back inside them; says `changed` only if something is different.
    void set(Setup setup);

  signals:
    void changed();

  private:
    Setup setup_;
};

}  // namespace roper
