#include "ui/controls/flow_layout.h"

#include <QWidget>
#include <algorithm>

namespace roper {
namespace {

constexpr int kGap = 8, kLineGap = 4;

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
        // Widgets of different heights are centred vertically in their line.
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

}  // namespace roper
