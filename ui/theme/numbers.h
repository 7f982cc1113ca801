#pragma once

#include <QString>

namespace roper {

// Formatting of numbers and symbols for figures and notes, with typographic minus signs and subscripts.

/// A number with up to `digits` significant digits and the minus sign U+2212.
QString numberText(double value, int digits = 6);

/// The same with a fixed number of decimals.
QString fixedNumberText(double value, int decimals);

/// "12.3 %"; near 0 and 1 "< 0.01 %" and "> 99.99 %".
QString probabilityText(double probability);

/// "1 run", "3 runs".
QString countText(int count, const QString& noun);

/// "40 s", "5 min", "3 h", "3 days"; at least 1 s.
QString shortDuration(double seconds);

/// "x₁₂".
QString withSubscript(const QString& symbol, int index);

}  // namespace roper
