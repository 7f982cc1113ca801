#pragma once

#include <QColor>
#include <Qt>

namespace roper {

/// A background through which lines can still be made out, for what is written over them.
QColor translucent(QColor background);

/// Kinds of lines that are told apart without colours: 0 is a solid one; the numbers go round.
Qt::PenStyle dashOf(int number);

}  // namespace roper
