#pragma once

#include <QIcon>
#include <QPalette>

namespace roper {

enum class PageIcon { rotation, spectrum, attention, mixing, training, compare, inspect };

/// A page's icon for the sidebar, drawn in the palette's text colour at several sizes.
QIcon makePageIcon(PageIcon icon, const QPalette& palette);

}  // namespace roper
