#include "ui/theme/swatch.h"

#include <QHash>
#include <QPixmap>

namespace roper {

QIcon swatch(const QColor& color) {
    constexpr int kSide = 12, kMost = 1000;
    static QHash<QRgb, QIcon> made;
    const auto known = made.constFind(color.rgba());
    if (known != made.constEnd()) return *known;
    if (made.size() >= kMost) made.clear();
    QPixmap square(kSide, kSide);
    square.fill(color);
    return made[color.rgba()] = QIcon(square);
}

}  // namespace roper
