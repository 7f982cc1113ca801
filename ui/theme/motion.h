#pragma once

namespace roper {

/// Whether the reader wants as little motion as can be: what plays then moves in few steps, and does not
/// glide.
bool isMotionReduced();
/// Now and from the next start on; what plays already goes on as it began.
void reduceMotion(bool reduced);

/// The time between two frames of what plays. @param usual_ms  where motion is not reduced
int frameInterval(int usual_ms);

}  // namespace roper
