#pragma once

#include <QApplication>
#include <memory>

namespace roper {

/// Creates the application of a program with a window. Without a display Qt would abort with its own message;
/// this explains what to do instead and exits with the code of a usage error.
std::unique_ptr<QApplication> createApplication(int& argc, char** argv);

/// Checks fonts: without any, Qt silently draws every letter as a box.
/// @throws Error (disk) if no installed font has the letters needed by figures and the window
void requireFonts();

}  // namespace roper
