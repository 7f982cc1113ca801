#pragma once

#include <QPushButton>
#include <QTimer>

#include "ui/theme/appearance.h"

namespace roper {

/// A play button: while playing, emits a signal when the next frame is due.
class PlayButton : public QPushButton {
    Q_OBJECT

  public:
    /// @param usual_ms  time between frames unless motion is reduced
    explicit PlayButton(int usual_ms) : QPushButton(tr("Play")) {
        setCheckable(true);
        connect(&timer_, &QTimer::timeout, this, &PlayButton::next);
        connect(this, &QPushButton::toggled, this, [this, usual_ms](bool on) {
            setText(on ? tr("Pause") : tr("Play"));
            on ? timer_.start(frameInterval(usual_ms)) : timer_.stop();
        });
    }

    /// Current time between frames.
    int interval_ms() const { return timer_.interval(); }

  signals:
    void next();

  private:
    QTimer timer_;
};

}  // namespace roper
