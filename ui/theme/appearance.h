#pragma once

namespace roper {

/// Whether the window is light or dark.
enum class Appearance {
    system,  ///< follows the desktop
    light,
    dark,
};

/// The saved choice; `system` if there is none.
Appearance savedAppearance();
/// Changes the colors of the whole program, and saves the choice.
void setAppearance(Appearance appearance);
/// Sets style and colors; call it before the window is created.
void applyApplicationStyle();

/// Whether the user prefers reduced motion: animations then move in few steps, without smooth transitions.
bool isMotionReduced();
/// Changes and saves the setting; running animations are not affected.
void setMotionReduced(bool reduced);

/// Milliseconds between two animation frames. @param usual_ms  the same without reduced motion
int frameInterval(int usual_ms);

}  // namespace roper
