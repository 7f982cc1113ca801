#pragma once

#include <QSize>
#include <QString>
#include <filesystem>

namespace roper {

/// Writes a picture of every example of the explorer pages, and index.md, which shows them with the commands
/// that make them, into the folder `out`. Prints the path of each file on stdout.
/// @returns the exit code. @throws Error
int makeGallery(const QString& out);

/// Writes thumbnails.png (for resources/examples) into the folder `out`, in the light theme: every example at
/// its thumbnailCell().
int makeThumbnails(const QString& out);

/// Writes screenshots of every page, light and dark, as PNG, and the figures of the pages as PNG, SVG, PDF
/// and CSV. Prints the path of each file on stdout. Shows the runs of the folder `runs` in a window of
/// `size`, with `scale` pixels of PNG per window pixel. @returns the exit code. @throws Error
int makeScreenshots(const QString& out, const std::filesystem::path& runs, const QSize& size, int scale);

}  // namespace roper
