#include "ui/pages/inspect/view_text.h"

#include <QFontDatabase>

namespace roper {

void paintInstead(QPainter& painter, const QRectF& area, const Theme& theme, const QString& text) {
    constexpr double kMargin = 12;
    painter.setPen(theme.faint_text);
    painter.drawText(area.adjusted(kMargin, kMargin, -kMargin, -kMargin), Qt::AlignCenter | Qt::TextWordWrap,
                     text);
}

QFont monospaced(const QFont& like, double times) {
    QFont mono = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    mono.setPointSizeF(like.pointSizeF() * times);
    return mono;
}

}  // namespace roper
