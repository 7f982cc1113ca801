#pragma once

#include <QFont>
#include <QFontMetricsF>
#include <QObject>
#include <QSize>
#include <cmath>

namespace roper {

/// Zoom of the whole window: 1 is the desktop's default.
///
/// The zoom scales the program's font, which text-based layouts follow. Sizes in pixels go through `zoomed`;
/// figures are laid out at zoom 1 and drawn scaled (FigureView).
class Zoom : public QObject {
    Q_OBJECT

  public:
    static constexpr double kMinFactor = 0.7, kMaxFactor = 2.5;

    static Zoom& instance();

    double factor() const { return factor_; }
    /// Restores the saved factor.
    void restore();
    /// Sets and saves the factor, clamped to its bounds.
    void set(double factor);
    /// Changes to the next larger (+1) or smaller (−1) fixed factor.
    void step(int direction);

    /// The program's font at zoom 1, in which figures are laid out.
    const QFont& figureFont() const { return figure_font_; }

  signals:
    void changed();

  private:
    Zoom();

    QFont figure_font_;
    double factor_ = 1;
};

/// A length in pixels at the current zoom.
inline int zoomed(double pixels) {
    return static_cast<int>(std::lround(pixels * Zoom::instance().factor()));
}
inline QSize zoomed(const QSize& size) {
    return {zoomed(size.width()), zoomed(size.height())};
}

// Text sizes relative to the program's font: page titles, and small text of figures and forms.

inline constexpr double kTitleSize = 1.5, kSmallSize = 0.875;

inline QFont scaledFont(QFont font, double by) {
    font.setPointSizeF(by * font.pointSizeF());
    return font;
}

inline QFont boldFont(QFont font) {
    font.setBold(true);
    return font;
}

inline QFont titleFont(const QFont& font) {
    return boldFont(scaledFont(font, kTitleSize));
}

/// The font of axes, ticks and notes: 7 pt in a figure whose text has 8 pt.
inline QFont smallFont(const QFont& font) {
    return scaledFont(font, kSmallSize);
}

/// Height of a text wrapped to this width.
inline double wrappedHeight(const QString& text, const QFont& font, double width) {
    return QFontMetricsF(font).boundingRect(QRectF(0, 0, width, 1e4), Qt::TextWordWrap, text).height();
}

}  // namespace roper
