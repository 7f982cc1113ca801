#pragma once

#include <QString>

namespace roper {

/// Writes a picture of every example of the explorer pages, and index.md, which shows them with the commands
/// that make them. Prints the path of each file on stdout. @returns the exit code @throws Error
int makeGallery(const QString& out);

/// Writes thumbnails.png (resources/examples), in the light theme: a cell for every example, as
/// thumbnailCell() finds it.
int makeThumbnails(const QString& out);

}  // namespace roper
