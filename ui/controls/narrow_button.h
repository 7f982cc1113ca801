#pragma once

#include <QPushButton>
#include <QStringList>
#include <algorithm>

#include "ui/theme/zoom.h"

namespace roper {

/// A button in a narrow row: it may be as narrow as its text, below the least width that the style gives to
/// all.
class NarrowButton : public QPushButton {
  public:
    /// @param texts  what it shows at first, and what at other times
    explicit NarrowButton(const QStringList& texts) : QPushButton(texts.front()), texts_(texts) {
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);  // a button's own would not let it shrink
    }

    QSize minimumSizeHint() const override {
        constexpr int kPadding = 10;  // pixels, both sides with the frame
        int longest = 0;
        for (const QString& text : texts_)
            longest = std::max(longest, fontMetrics().horizontalAdvance(text));
        return {longest + zoomed(kPadding), QPushButton::minimumSizeHint().height()};
    }

  private:
    QStringList texts_;
};

/// Such a button that does something. @param help  its tool tip
template <class Receiver, class Act>
QPushButton* narrowButton(const QStringList& texts, const QString& help, Receiver* receiver, Act act) {
    auto* button = new NarrowButton(texts);
    button->setToolTip(help);
    QObject::connect(button, &QPushButton::clicked, receiver, act);
    return button;
}

}  // namespace roper
