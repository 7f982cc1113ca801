#pragma once

#include <QAbstractItemView>
#include <QComboBox>
#include <QStyleOptionComboBox>
#include <QStylePainter>

#include "ui/theme/elided_label.h"

namespace roper {

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
        constexpr int kPadding = 4;  // of the style, both sides together
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
