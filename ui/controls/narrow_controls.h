#pragma once

#include <QAbstractItemView>
#include <QComboBox>
#include <QPushButton>
#include <QStringList>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <algorithm>

#include "ui/theme/elided_label.h"
#include "ui/theme/zoom.h"

namespace roper {

/// A button for narrow rows: it may be as narrow as its text, below the style's minimum width of buttons.
class NarrowButton : public QPushButton {
  public:
    /// @param texts  the initial text, and other texts that the button may show
    explicit NarrowButton(const QStringList& texts) : QPushButton(texts.front()), texts_(texts) {
        // The default policy would not let it shrink.
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

/// A NarrowButton with an action. @param help  its tooltip
template <class Receiver, class Act>
QPushButton* narrowButton(const QStringList& texts, const QString& help, Receiver* receiver, Act act) {
    auto* button = new NarrowButton(texts);
    button->setToolTip(help);
    QObject::connect(button, &QPushButton::clicked, receiver, act);
    return button;
}

/// A combo box with labels longer than its width: elision keeps the distinctive parts, and the popup is as
/// wide as the labels.
class ElidedComboBox : public QComboBox {
  public:
    using QComboBox::QComboBox;

    void showPopup() override {
        view()->setMinimumWidth(view()->sizeHintForColumn(0) + 2 * view()->frameWidth());
        QComboBox::showPopup();
    }

    /// The elided text of the chosen label.
    QString displayedText() const {
        QStyleOptionComboBox option;
        initStyleOption(&option);
        const QRect room =
            style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
        QStringList labels;
        for (int i = 0; i < count(); ++i)
            labels << itemText(i);
        constexpr int kPadding = 4;  // pixels of the style, both sides together
        const QFontMetricsF metrics(font());
        return elidedLabels(labels, metrics, room.width() - kPadding).value(currentIndex());
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QStylePainter painter(this);
        painter.setPen(palette().color(QPalette::Text));
        QStyleOptionComboBox option;
        initStyleOption(&option);
        option.currentText = displayedText();
        painter.drawComplexControl(QStyle::CC_ComboBox, option);
        painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    }
};

}  // namespace roper
