#pragma once

#include <QBoxLayout>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QSplitter>
#include <QString>
#include <QTableView>
#include <initializer_list>

#include "ui/theme/zoom.h"

namespace roper {

// Helpers to build pages, panels and dialogs; each replaces several calls of Qt.

/// Sets the accessible name of an input, by which tests find it, and its tooltip.
template <class Widget>
Widget* named(Widget* widget, const QString& name, const QString& help) {
    widget->setAccessibleName(name);
    widget->setToolTip(help);
    return widget;
}
/// Uses the name as the tooltip, too.
template <class Widget>
Widget* named(Widget* widget, const QString& name) {
    return named(widget, name, name);
}

/// Sets the height of all rows and, unless it is 0, the width of all columns, in pixels at zoom 1.
inline void setCellSize(QTableView& table, int row_height, int column_width = 0) {
    const auto apply = [&table, row_height, column_width] {
        table.verticalHeader()->setDefaultSectionSize(zoomed(row_height));
        if (column_width > 0) table.horizontalHeader()->setDefaultSectionSize(zoomed(column_width));
    };
    QObject::connect(&Zoom::instance(), &Zoom::changed, &table, apply);
    apply();
}

/// A row of widgets that wraps like text.
class FlowLayout : public QLayout {
  public:
    explicit FlowLayout(QWidget* parent);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override { items_.append(item); }
    int count() const override { return static_cast<int>(items_.size()); }
    QLayoutItem* itemAt(int index) const override { return items_.value(index); }
    QLayoutItem* takeAt(int index) override;

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return arrange(QRect(0, 0, width, 0), false); }
    Qt::Orientations expandingDirections() const override { return {}; }
    QSize minimumSize() const override;
    QSize sizeHint() const override;
    void setGeometry(const QRect& rect) override;

  private:
    /// @param apply  whether to move the widgets. @returns their total height
    int arrange(const QRect& rect, bool apply) const;

    QList<QLayoutItem*> items_;
};

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

/// Layouts of items side by side, or one below the other. @param widget  receives the layout, if given
QHBoxLayout* rowOf(std::initializer_list<LayoutItem> all, QWidget* widget = nullptr);
QVBoxLayout* columnOf(std::initializer_list<LayoutItem> all, QWidget* widget = nullptr);

/// A widget with this layout; the margins of the layout become 0.
QWidget* wrapInWidget(QLayout* layout);

/// A row that wraps like text (FlowLayout).
QWidget* makeFlowRow(std::initializer_list<QWidget*> all);

/// A splitter whose widgets cannot be collapsed.
/// @param sizes    initial sizes in pixels; empty: size hints
/// @param growing  index of the widget that grows with the window; −1: all of them
QSplitter* makeSplitter(Qt::Orientation orientation, std::initializer_list<QWidget*> all,
                        const QList<int>& sizes, int growing = -1);

/// A scroll area without a frame; its contents are as wide as the area and scroll vertically.
QScrollArea* makeScrollArea(QWidget* contents);

/// A label with word wrap.
QLabel* wrappedLabel(const QString& text = {});
/// The same for a message whose text can be selected and copied.
QLabel* messageLabel();
/// A remark in the faint text color.
QLabel* faintLabel(const QString& text = {});

/// Shows a text, or hides the label if the text is empty.
void setTextOrHide(QLabel& label, const QString& text);

/// Lets a combo box shrink to the width of `letters` characters, however long its entries are.
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
