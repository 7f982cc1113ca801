#pragma once

#include <QColor>
#include <QIcon>

namespace roper {

/// A small square in a colour, for lists. Icons are reused, because Qt caches a scaled copy of every icon
/// that it has drawn.
QIcon swatch(const QColor& color);

}  // namespace roper
