#pragma once

#include <QSize>
#include <QString>
#include <filesystem>

namespace roper {

/// Writes every page, light and dark, as PNG, and the pictures of the pages as PNG, SVG, PDF and CSV. Prints
/// the path of each file on stdout. The runs are those of `runs`, the window has `size`, a PNG `scale` pixels
/// for each of its. @returns the exit code @throws Error
int makeScreenshots(const QString& out, const std::filesystem::path& runs, const QSize& size, int scale);

}  // namespace roper
