#pragma once

#include <QSize>
#include <QString>
#include <filesystem>

namespace roper {

/// Writes screenshots of every page, light and dark, as PNG, and the figures of the pages as PNG, SVG, PDF
/// and CSV. Prints the path of each file on stdout. Shows the runs of `runs` in a window of `size`, with
/// `scale` pixels of PNG per window pixel. @returns the exit code @throws Error
int makeScreenshots(const QString& out, const std::filesystem::path& runs, const QSize& size, int scale);

}  // namespace roper
