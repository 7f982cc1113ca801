#pragma once

#include <QApplication>
#include <memory>

namespace roper {

/// Creates the QApplication of a program with a window. Without a display, where Qt would abort with its own
/// message, this explains what to do and exits with the code of a usage error.
std::unique_ptr<QApplication> createApplication(int& argc, char** argv);

/// Checks the installed fonts: without any, Qt silently draws every letter as a box.
/// @throws Error (disk) if no installed font has the letters needed by figures and the window
void requireFonts();

}  // namespace roper
