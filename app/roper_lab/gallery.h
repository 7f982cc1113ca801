#pragma once

#include <QString>

namespace roper {

/// Writes a picture of every example of the explorer pages, and index.md, which shows them with the command
/// that makes each. Prints the path of each file on stdout. @returns the exit code @throws Error
int makeGallery(const QString& out);

/// The small pictures that the lists of examples show (resources/examples), light, one for each.
int makeThumbnails(const QString& out);

}  // namespace roper
