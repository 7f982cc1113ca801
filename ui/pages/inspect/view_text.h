#pragma once

#include <QFont>
#include <QPainter>
#include <functional>
#include <string>
#include <vector>

#include "ui/theme/theme.h"

namespace roper {

/// What a view says in the place of its picture.
void paintInstead(QPainter& painter, const QRectF& area, const Theme& theme, const QString& text);

/// A font in which tokens are read, so many times as large as another.
QFont monospaced(const QFont& like, double times = 1);

/// Where the tokens of a text stand, line by line.
struct TokenLines {
    std::vector<QRectF> cells;
    double bottom = 0;  ///< of the last line

    const QRectF& cell(int token) const { return cells.at(static_cast<std::size_t>(token)); }
    /// −1: none.
    int at(const QPointF& point) const;
};

/// How tokens are laid out.
struct TokenSpacing {
    double line = 0;      ///< from one line to the next
    double height = 0;    ///< of a token
    double gap = 0;       ///< between two
    bool breaks = false;  ///< a token with the end of a line ends it
};

/// Each as wide as its text.
/// @param box      its left, right and upper edge count
/// @param width_of of a token
TokenLines layTokens(const std::vector<std::string>& tokens, const QRectF& box, const TokenSpacing& spacing,
                     const std::function<double(const std::string& token)>& width_of);

}  // namespace roper
