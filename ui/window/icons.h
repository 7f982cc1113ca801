#pragma once

#include <QIcon>
#include <QPalette>

namespace roper {

/// The sidebar icon of a page in the palette's text color, at several sizes.
/// @param page  its index in PageSet::pages
QIcon makePageIcon(std::size_t page, const QPalette& palette);

}  // namespace roper
