#pragma once

#include <QColor>
#include <QPalette>
#include <array>
#include <string>

namespace roper {

/// Colours of pictures. Those that carry meaning are the same everywhere, light or dark; the rest follows the
/// palette.
struct Theme {
    QColor background, text, faint_text, grid, frame;
    bool dark = false;

    static Theme of(const QPalette& palette);
    static Theme light();

    static QColor rope() { return method("rope"); }
    static QColor roper() { return method("roper"); }
    /// The colour of a position method, by its name in specifications.
    static QColor method(const std::string& position);

    static QColor query() { return QColor(0x56, 0xB4, 0xE9); }
    static QColor key() { return QColor(0xE6, 0x9F, 0x00); }
    static QColor value() { return QColor(0x00, 0x9E, 0x73); }
    static QColor output() { return QColor(0xCC, 0x79, 0xA7); }

    /// Pair i of n, fast to slow, along a perceptually even map kept clear of the background.
    QColor pair(int i, int n) const;

    /// 256 colours of signed numbers, diverging about the background: brown below zero, teal above.
    std::array<QRgb, 256> divergingColors() const;
    /// 256 colours of weights, from the background at zero.
    std::array<QRgb, 256> sequentialColors() const;

    /// The colour of a run by its position method; further runs of one method get other lightness.
    QColor run(const std::string& position, int number) const;

    /// A colour that means something, as text: darker or lighter where it would be hard to read on the
    /// background (below 4.5 : 1, WCAG 2.1, 1.4.3).
    QColor readable(const QColor& color) const;
    /// The same for a line that carries meaning: 3 : 1.
    QColor visible(const QColor& color) const;

    /// A paler form of a colour that still can be seen: what something was before.
    QColor ghost(const QColor& color) const;

    /// `color` mixed into the background: 1 gives the colour, 0 the background.
    QColor faded(const QColor& color, double share) const;

  private:
    /// The colour, mixed with that of text until it contrasts so much with the background.
    QColor contrasting(const QColor& color, double least) const;
};

/// From a (0) to b (1), in sRGB.
QColor mixed(const QColor& a, const QColor& b, double share_of_b);

/// How well two colours can be told apart, 1 to 21: (L₁ + 0.05)/(L₂ + 0.05) of their relative luminances, the
/// lighter first. (WCAG 2.1)
double contrast(const QColor& a, const QColor& b);

/// Light or dark palette for pictures made without a desktop.
QPalette fixedPalette(bool dark);

}  // namespace roper
