#pragma once

#include <QApplication>
#include <memory>

namespace roper {

/// The application of a program with a window. Without a display Qt would abort in words of its own; this
/// says what to do instead and ends with the exit code of a wrong command.
std::unique_ptr<QApplication> applicationOnADisplay(int& argc, char** argv);

/// Without a font Qt draws every letter as a box, and says nothing.
/// @throws Error (disk) if no font here has the letters that every picture and the window need
void requireFonts();

}  // namespace roper
