#pragma once

#include <QColor>
#include <QIcon>

namespace roper {

/// A small square of a colour, for lists. The same one each time: Qt keeps a scaled copy of every icon that
/// it has drawn.
QIcon swatch(const QColor& color);

}  // namespace roper
