#pragma once

namespace roper {

/// Whether the user prefers reduced motion: animations then move in few steps, without smooth transitions.
bool isMotionReduced();
/// Changes and saves the setting; running animations are not affected.
void setMotionReduced(bool reduced);

/// Time between two animation frames. @param usual_ms  without reduced motion
int frameInterval(int usual_ms);

}  // namespace roper
