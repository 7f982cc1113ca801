#include "ui/charts/elided_label.h"

namespace roper {

QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width) {
    const qsizetype end = label.lastIndexOf(QStringLiteral(": "));
    const double method = end < 0 ? width : metrics.horizontalAdvance(label.mid(end));
    // A method that fills most of the room leaves no title to read.
    if (method > width / 2) return metrics.elidedText(label, Qt::ElideMiddle, width);
    return metrics.elidedText(label.left(end), Qt::ElideRight, width - method) + label.mid(end);
}

}  // namespace roper
