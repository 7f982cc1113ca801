#pragma once

namespace roper {

/// Whether the window is light or dark.
enum class Appearance {
    system,  ///< follows the desktop
    light,
    dark,
};

/// The last choice; initially `system`.
Appearance savedAppearance();
/// Changes the colours of the whole program, and saves the choice.
void setAppearance(Appearance appearance);
/// Sets style and colours; call it before the window is created.
void applyApplicationStyle();

}  // namespace roper
