#pragma once

#include <QIcon>
#include <QPalette>

namespace roper {

enum class PageIcon { rotation, spectrum, attention, mixing, training, compare, inspect };

/// The sidebar icon of a page in the palette's text colour, at several sizes.
QIcon makePageIcon(PageIcon icon, const QPalette& palette);

}  // namespace roper
