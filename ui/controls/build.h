#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <initializer_list>

namespace roper {

// How pages, panels and dialogs are put together: each call says in one place what Qt takes several for.

/// A widget or a layout in a row or a column.
struct Placed {
    Placed(QWidget* one, int how_much = 0, Qt::Alignment where = {})
        : widget(one), stretch(how_much), alignment(where) {}
    Placed(QLayout* one, int how_much = 0) : layout(one), stretch(how_much) {}

    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int stretch;  ///< the share of the room that is left over
    Qt::Alignment alignment = {};
};
/// Room that stays free among them.
inline const Placed kRoom{static_cast<QWidget*>(nullptr)};

/// Side by side, or one below the other. @param of  the widget whose layout it becomes, if any
QHBoxLayout* rowOf(std::initializer_list<Placed> all, QWidget* of = nullptr);
QVBoxLayout* columnOf(std::initializer_list<Placed> all, QWidget* of = nullptr);

/// A widget with this layout, without margins of its own.
QWidget* widgetWith(QLayout* layout);

/// A row that is broken like text where it is too long (FlowLayout).
QWidget* flowOf(std::initializer_list<QWidget*> all);

/// Widgets that are parted by dragging; none can be dragged away.
/// @param sizes    at first, in pixels; none: as they would like
/// @param growing  the place of the one that takes what a larger window gives; −1: all share it
QSplitter* splitOf(Qt::Orientation orientation, std::initializer_list<QWidget*> all, const QList<int>& sizes,
                   int growing = -1);

/// A text that is broken into lines.
QLabel* wrappedLabel(const QString& text = {});
/// The same for a message, of which a person may copy parts.
QLabel* messageLabel();
/// A remark, paler than other texts.
QLabel* faintLabel(const QString& text = {});

/// Lets a list be as narrow as so many letters, however long its entries are.
void letBeNarrow(QComboBox& box, int letters = 8);

/// A button that does something. @param help  its tool tip
template <class Receiver, class Act>
QPushButton* buttonFor(const QString& text, const QString& help, Receiver* receiver, Act act) {
    auto* button = new QPushButton(text);
    button->setToolTip(help);
    QObject::connect(button, &QPushButton::clicked, receiver, act);
    return button;
}

}  // namespace roper
