#pragma once

#include <QPushButton>
#include <QStringList>
#include <algorithm>

namespace roper {

/// A button in a narrow row: it may be as narrow as its text, below the least width that the style gives to
/// all.
/// @param texts  what it shows at first, and what at other times
inline QPushButton* makeNarrowButton(const QStringList& texts) {
    constexpr int kPadding = 10;  // pixels, both sides with the frame
    auto* button = new QPushButton(texts.front());
    int longest = 0;
    for (const QString& text : texts)
        longest = std::max(longest, button->fontMetrics().horizontalAdvance(text));
    button->setMinimumWidth(longest + kPadding);
    return button;
}

}  // namespace roper
