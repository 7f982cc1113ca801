#pragma once

#include <QApplication>
#include <memory>

namespace roper {

/// Creates the QApplication of a GUI program. Without a display, where Qt would abort with its own
/// message, this explains what to do and exits with the code of a usage error.
std::unique_ptr<QApplication> createApplication(int& argc, char** argv);

/// Checks the installed fonts: without any, Qt silently draws every letter as a box.
/// @throws Error (disk) if no installed font has the glyphs that figures and the window need
void requireFonts();

}  // namespace roper
