#pragma once

#include <QPushButton>
#include <QStringList>
#include <algorithm>

#include "ui/theme/zoom.h"

namespace roper {

/// A button for narrow rows: it may be as narrow as its text, below the style's minimum width of buttons.
class NarrowButton : public QPushButton {
  public:
    /// @param texts  initial text, and others that it may show
    explicit NarrowButton(const QStringList& texts) : QPushButton(texts.front()), texts_(texts) {
        // the default policy would not let it shrink
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize minimumSizeHint() const override {
        constexpr int kPadding = 10;  // pixels, both sides including the frame
        int longest = 0;
        for (const QString& text : texts_)
            longest = std::max(longest, fontMetrics().horizontalAdvance(text));
        return {longest + zoomed(kPadding), QPushButton::minimumSizeHint().height()};
    }

  private:
    QStringList texts_;
};

/// Such a button with an action. @param help  its tooltip
template <class Receiver, class Act>
QPushButton* narrowButton(const QStringList& texts, const QString& help, Receiver* receiver, Act act) {
    auto* button = new NarrowButton(texts);
    button->setToolTip(help);
    QObject::connect(button, &QPushButton::clicked, receiver, act);
    return button;
}

}  // namespace roper
