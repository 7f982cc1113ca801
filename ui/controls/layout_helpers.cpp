#include "ui/controls/layout_helpers.h"

#include <QWidget>
#include <algorithm>

namespace roper {
namespace {

constexpr int kGap = 8, kLineGap = 4;

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

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
    qDeleteAll(items_);
}

QLayoutItem* FlowLayout::takeAt(int index) {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

/// The widest widget: all others can go below it.
QSize FlowLayout::minimumSize() const {
    QSize least;
    for (const QLayoutItem* item : items_)
        if (!item->isEmpty()) least = least.expandedTo(item->minimumSize());
    return least;
}

/// All widgets in one row.
QSize FlowLayout::sizeHint() const {
    QSize all;
    for (const QLayoutItem* item : items_) {
        if (item->isEmpty()) continue;
        all = {all.width() + (all.width() > 0 ? kGap : 0) + item->sizeHint().width(),
               std::max(all.height(), item->sizeHint().height())};
    }
    return all;
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
    int x = rect.left(), y = rect.top(), line = 0;
    QList<std::pair<QLayoutItem*, QRect>> in_line;
    const auto finish = [&] {
        // Widgets of different heights are centered vertically in their line.
        for (auto& [item, place] : in_line)
            if (apply) item->setGeometry(place.translated(0, (line - place.height()) / 2));
        in_line.clear();
    };
    for (QLayoutItem* item : items_) {
        if (item->isEmpty()) continue;
        const QSize size = item->sizeHint().expandedTo(item->minimumSize()).boundedTo(item->maximumSize());
        if (x > rect.left() && x + size.width() > rect.left() + rect.width()) {
            finish();
            x = rect.left();
            y += line + kLineGap;
            line = 0;
        }
        const int width = std::min(size.width(), std::max(rect.width(), item->minimumSize().width()));
        in_line.append({item, QRect(QPoint(x, y), QSize(width, size.height()))});
        x += width + kGap;
        line = std::max(line, size.height());
    }
    finish();
    return y + line - rect.top();
}

QHBoxLayout* rowOf(std::initializer_list<LayoutItem> all, QWidget* widget) {
    auto* row = new QHBoxLayout(widget);
    fill(*row, all);
    return row;
}

QVBoxLayout* columnOf(std::initializer_list<LayoutItem> all, QWidget* widget) {
    auto* column = new QVBoxLayout(widget);
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

QScrollArea* makeScrollArea(QWidget* contents) {
    auto* area = new QScrollArea;
    area->setWidget(contents);
    area->setWidgetResizable(true);
    area->setFrameShape(QFrame::NoFrame);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    return area;
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

void setTextOrHide(QLabel& label, const QString& text) {
    label.setText(text);
    label.setVisible(!text.isEmpty());
}

void allowShrinking(QComboBox& box, int letters) {
    box.setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box.setMinimumContentsLength(letters);
}

}  // namespace roper
