#include "ui/theme/swatch.h"

#include <QCoreApplication>
#include <QHash>
#include <QPixmap>

namespace roper {

QIcon swatch(const QColor& color) {
    constexpr int kSide = 12, kMaxIcons = 1000;
    static QHash<QRgb, QIcon> made;
    // Icons must be destroyed before Qt's application object.
    static const bool cleared_in_time = [] {
        qAddPostRoutine([] { made.clear(); });
        return true;
    }();
    Q_UNUSED(cleared_in_time)
    const auto known = made.constFind(color.rgba());
    if (known != made.constEnd()) return *known;
    if (made.size() >= kMaxIcons) made.clear();
    QPixmap square(kSide, kSide);
    square.fill(color);
    return made[color.rgba()] = QIcon(square);
}

}  // namespace roper
