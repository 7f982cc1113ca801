#pragma once

#include <QString>

namespace roper {

// How numbers and symbols are written in pictures and notes: with true minus signs and subscripts.

/// A number as notes write it: up to `digits` significant ones, with a true minus sign.
QString noteNumber(double value, int digits = 6);

/// The same with a fixed number of decimals.
QString fixedNumber(double value, int decimals);

/// "12.3 %"; of what is nearly none or nearly all "< 0.01 %" and "> 99.99 %".
QString probabilityText(double probability);

/// "1 run", "3 runs".
QString counted(int count, const QString& noun);

/// "5 min", "3 h", "2 days".
QString shortDuration(double seconds);

/// "x₁₂".
QString withSubscript(const QString& symbol, int index);

}  // namespace roper
