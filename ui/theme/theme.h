#pragma once

#include <QColor>
#include <QIcon>
#include <QPalette>
#include <array>
#include <string>

namespace roper {

/// Colors of figures. Colors with a meaning are the same everywhere; the others follow the palette.
struct Theme {
    QColor background, text, faint_text;
    QColor grid, frame;  ///< of grid lines; of axes and neutral marks
    bool dark = false;

    static Theme of(const QPalette& palette);
    static Theme light();

    static QColor rope() { return method("rope"); }
    static QColor roper() { return method("roper"); }
    /// The color of a position method, by its name in specifications.
    static QColor method(const std::string& position);

    // Colors of queries, keys, values and outputs.
    static QColor query() { return QColor(0x56, 0xB4, 0xE9); }
    static QColor key() { return QColor(0xE6, 0x9F, 0x00); }
    static QColor value() { return QColor(0x00, 0x9E, 0x73); }
    static QColor output() { return QColor(0xCC, 0x79, 0xA7); }

    /// Color of pair i of n, from fast to slow, from a perceptually uniform color map without the colors
    /// near the background. Also for other ordered items, such as layers.
    QColor pair(int i, int n) const;

    /// 256 colors for signed numbers, diverging from the background: brown below zero, teal above.
    std::array<QRgb, 256> divergingColors() const;
    /// 256 colors for weights, starting with the background at zero.
    std::array<QRgb, 256> sequentialColors() const;
    /// 256 colors for numbers that stand for categories, such as experts; neighbors differ.
    std::array<QRgb, 256> categoryColors() const;

    /// The color of a run: that of its position method, in one of eight shades.
    /// @param number  index of the run among those with the same method, from 0
    QColor run(const std::string& position, int number) const;

    /// A color with a meaning for use as text: made darker or lighter if its contrast with the background is
    /// below 4.5 : 1 (Web Content Accessibility Guidelines, WCAG 2.1, section 1.4.3).
    QColor readable(const QColor& color) const;
    /// The same for lines: 3 : 1.
    QColor visible(const QColor& color) const;

    /// A paler but still visible version of a color, for a previous state.
    QColor ghost(const QColor& color) const;

    /// `color` mixed into the background: 1 gives the color, 0 the background.
    QColor faded(const QColor& color, double fraction) const;

  private:
    /// Mixes of two colors, with more and more of the second one.
    struct Mixes {
        QColor from, to;
        double first_fraction = 0;  ///< of `to` in the first mix
    };
    /// The first mix whose contrast with the background is at least `least`, or `mixes.to` if there is none.
    QColor firstWithContrast(const Mixes& mixes, double least) const;
};

/// Interpolates from a (0) to b (1), in sRGB.
QColor mixed(const QColor& a, const QColor& b, double fraction_of_b);

/// Contrast of two colors, 1 to 21: (L₁ + 0.05)/(L₂ + 0.05) of their relative luminances, the lighter first
/// (WCAG 2.1).
double contrast(const QColor& a, const QColor& b);

/// The program's light or dark palette, which does not depend on the desktop.
QPalette fixedPalette(bool dark);

/// A small square in a color, for lists. Icons are reused, because Qt caches a scaled copy of every icon
/// that it has drawn.
QIcon swatch(const QColor& color);

}  // namespace roper
