#pragma once

#include <QFont>
#include <QPainter>
#include <functional>
#include <string>
#include <vector>

#include "ui/theme/theme.h"

namespace roper {

/// Draws the text that a view shows instead of its figure.
void paintPlaceholder(QPainter& painter, const QRectF& area, const Theme& theme, const QString& text);

/// A monospaced font for tokens, scaled by `times` relative to `base`.
QFont monospaced(const QFont& base, double times = 1);

/// Layout of a text's tokens in lines.
struct TokenLines {
    std::vector<QRectF> cells;
    double bottom = 0;  ///< lower edge of the last line

    const QRectF& cell(int token) const { return cells.at(static_cast<std::size_t>(token)); }
    /// Index of the token at a point; −1: none.
    int at(const QPointF& point) const;
};

/// Spacing of tokens.
struct TokenSpacing {
    double line = 0;      ///< distance between lines
    double height = 0;    ///< of a token
    double gap = 0;       ///< between two tokens
    bool breaks = false;  ///< a token that contains a line break ends the line
};

/// Lays out tokens, each as wide as its text.
/// @param box       its left, right and upper edges are used
/// @param width_of  width of a token
TokenLines layOutTokens(const std::vector<std::string>& tokens, const QRectF& box,
                        const TokenSpacing& spacing,
                        const std::function<double(const std::string& token)>& width_of);

}  // namespace roper
