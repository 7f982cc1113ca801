#pragma once

#include <QColor>
#include <Qt>

namespace roper {

/// A translucent background for text over lines.
QColor translucent(QColor background);

/// Line styles that are distinguishable without colours: 0 is solid; the numbers wrap around.
Qt::PenStyle dashOf(int number);

}  // namespace roper
