#pragma once

#include <QFont>
#include <QFontMetricsF>

namespace roper {

// Text sizes relative to the program's font: page titles, text, and small text of figures and forms.

inline constexpr double kTitleSize = 1.5, kSmallSize = 0.875;

inline QFont titleFont(QFont font) {
    font.setPointSizeF(kTitleSize * font.pointSizeF());
    font.setBold(true);
    return font;
}

inline QFont boldFont(QFont font) {
    font.setBold(true);
    return font;
}

/// Axes, ticks, notes: 7 pt in a figure with text of 8 pt.
inline QFont smallFont(QFont font) {
    font.setPointSizeF(kSmallSize * font.pointSizeF());
    return font;
}

/// Height of a text wrapped to this width.
inline double wrappedHeight(const QString& text, const QFont& font, double width) {
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 1e4), Qt::TextWordWrap, text).height();
}

}  // namespace roper
