#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <initializer_list>

namespace roper {

// Helpers to build pages, panels and dialogs: one call for what takes several in Qt.

/// A widget or layout in a row or column.
struct LayoutItem {
    LayoutItem(QWidget* one, int stretch_factor = 0, Qt::Alignment where = {})
        : widget(one), stretch(stretch_factor), alignment(where) {}
    LayoutItem(QLayout* one, int stretch_factor = 0) : layout(one), stretch(stretch_factor) {}

    QWidget* widget = nullptr;
    QLayout* layout = nullptr;
    int stretch;  ///< share of the remaining space
    Qt::Alignment alignment = {};
};
/// Stretchable space.
inline const LayoutItem kSpacer{static_cast<QWidget*>(nullptr)};

/// Side by side, or one below the other. @param of  the widget that receives the layout, if any
QHBoxLayout* rowOf(std::initializer_list<LayoutItem> all, QWidget* of = nullptr);
QVBoxLayout* columnOf(std::initializer_list<LayoutItem> all, QWidget* of = nullptr);

/// A widget with this layout, without margins.
QWidget* wrapInWidget(QLayout* layout);

/// A row that wraps like text (FlowLayout).
QWidget* makeFlowRow(std::initializer_list<QWidget*> all);

/// A splitter whose widgets cannot be collapsed.
/// @param sizes    initial sizes in pixels; empty: size hints
/// @param growing  index of the widget that grows with the window; −1: all of them
QSplitter* makeSplitter(Qt::Orientation orientation, std::initializer_list<QWidget*> all,
                        const QList<int>& sizes, int growing = -1);

/// A label with word wrap.
QLabel* wrappedLabel(const QString& text = {});
/// The same for a message whose text can be selected and copied.
QLabel* messageLabel();
/// A remark in the faint text colour.
QLabel* faintLabel(const QString& text = {});

/// Lets a combo box shrink to this many characters, however long its entries are.
void allowShrinking(QComboBox& box, int letters = 8);

/// A button with an action. @param help  its tooltip
template <class Receiver, class Act>
QPushButton* makeActionButton(const QString& text, const QString& help, Receiver* receiver, Act act) {
    auto* button = new QPushButton(text);
    button->setToolTip(help);
    QObject::connect(button, &QPushButton::clicked, receiver, act);
    return button;
}

}  // namespace roper
