#include "ui/controls/layout_helpers.h"

#include "ui/controls/flow_layout.h"

namespace roper {
namespace {

void fill(QBoxLayout& layout, std::initializer_list<LayoutItem> all) {
    for (const LayoutItem& one : all) {
        if (one.layout != nullptr)
            layout.addLayout(one.layout, one.stretch);
        else if (one.widget != nullptr)
            layout.addWidget(one.widget, one.stretch, one.alignment);
        else
            layout.addStretch(one.stretch);
    }
}

}  // namespace

QHBoxLayout* rowOf(std::initializer_list<LayoutItem> all, QWidget* of) {
    auto* row = new QHBoxLayout(of);
    fill(*row, all);
    return row;
}

QVBoxLayout* columnOf(std::initializer_list<LayoutItem> all, QWidget* of) {
    auto* column = new QVBoxLayout(of);
    fill(*column, all);
    return column;
}

QWidget* wrapInWidget(QLayout* layout) {
    auto* widget = new QWidget;
    layout->setContentsMargins(0, 0, 0, 0);
    widget->setLayout(layout);
    return widget;
}

QWidget* makeFlowRow(std::initializer_list<QWidget*> all) {
    auto* row = new QWidget;
    auto* layout = new FlowLayout(row);
    for (QWidget* widget : all)
        layout->addWidget(widget);
    return row;
}

QSplitter* makeSplitter(Qt::Orientation orientation, std::initializer_list<QWidget*> all,
                        const QList<int>& sizes, int growing) {
    auto* splitter = new QSplitter(orientation);
    for (QWidget* widget : all)
        splitter->addWidget(widget);
    splitter->setChildrenCollapsible(false);
    if (!sizes.isEmpty()) splitter->setSizes(sizes);
    if (growing >= 0) splitter->setStretchFactor(growing, 1);
    return splitter;
}

QLabel* wrappedLabel(const QString& text) {
    auto* label = new QLabel(text);
    label->setWordWrap(true);
    return label;
}

QLabel* messageLabel() {
    QLabel* label = wrappedLabel();
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QLabel* faintLabel(const QString& text) {
    QLabel* label = wrappedLabel(text);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

void allowShrinking(QComboBox& box, int letters) {
    box.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box.setMinimumContentsLength(letters);
}

}  // namespace roper
