#pragma once

#include <QString>

namespace roper {

// What the side notes of several pages share: rich text with real minus signs.

/// A number as notes write it: up to `digits` significant ones, with a true minus sign.
QString noteNumber(double value, int digits = 6);

/// "x₁₂".
QString withSubscript(const QString& symbol, int index);

}  // namespace roper
