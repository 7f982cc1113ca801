#include "ui/theme/motion.h"

#include <QSettings>
#include <algorithm>

namespace roper {
namespace {

const char* const kMotionKey = "reduce_motion";

}  // namespace

bool isMotionReduced() {
    return QSettings().value(kMotionKey, false).toBool();
}

void setMotionReduced(bool reduced) {
    QSettings().setValue(kMotionKey, reduced);
}

int frameInterval(int usual_ms) {
    constexpr int kStep_ms = 800;
    return isMotionReduced() ? std::max(usual_ms, kStep_ms) : usual_ms;
}

}  // namespace roper
