#pragma once

namespace roper {

/// Whether the window is light or dark.
enum class Appearance {
    system,  ///< as the desktop is
    light,
    dark,
};

/// What was chosen last; `system` at first.
Appearance savedAppearance();
/// Colours the whole program, now and from the next start on.
void chooseAppearance(Appearance appearance);
/// Style and colours of the window, before it is made.
void dressApplication();

}  // namespace roper
