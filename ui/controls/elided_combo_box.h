#pragma once

#include <QAbstractItemView>
#include <QComboBox>
#include <QStyleOptionComboBox>
#include <QStylePainter>

#include "ui/theme/elided_label.h"

namespace roper {

/// A box of labels that are longer than it is wide: what tells them apart stays, and its list is as wide as
/// they are.
class ElidedComboBox : public QComboBox {
  public:
    using QComboBox::QComboBox;

    void showPopup() override {
        view()->setMinimumWidth(view()->sizeHintForColumn(0) + 2 * view()->frameWidth());
        QComboBox::showPopup();
    }

    /// What it shows of the label that is chosen.
    QString shownText() const {
        QStyleOptionComboBox option;
        initStyleOption(&option);
        const QRect room =
            style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
        QStringList labels;
        for (int i = 0; i < count(); ++i)
            labels << itemText(i);
        constexpr int kPadding = 4;  // of the style, both sides
        const QFontMetricsF metrics(font());
        return elidedTogether(labels, metrics, room.width() - kPadding).value(currentIndex());
    }

  protected:
    void paintEvent(QPaintEvent*) override {
        QStylePainter painter(this);
        painter.setPen(palette().color(QPalette::Text));
        QStyleOptionComboBox option;
        initStyleOption(&option);
        option.currentText = shownText();
        painter.drawComplexControl(QStyle::CC_ComboBox, option);
        painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    }
};

}  // namespace roper
