#include "ui/theme/elided_label.h"

#include <algorithm>

namespace roper {

QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width) {
    const qsizetype end = label.lastIndexOf(QStringLiteral(": "));
    const double method = end < 0 ? width : metrics.horizontalAdvance(label.mid(end));
    // A method that fills most of the room leaves no title to read.
    if (method > width / 2) return metrics.elidedText(label, Qt::ElideMiddle, width);
    return metrics.elidedText(label.left(end), Qt::ElideRight, width - method) + label.mid(end);
}

qsizetype commonStart(const QStringList& labels) {
    if (labels.size() < 2) return 0;
    const auto [least, greatest] = std::minmax_element(labels.begin(), labels.end());
    qsizetype same = 0;
    while (same < least->size() && same < greatest->size() && (*least)[same] == (*greatest)[same])
        ++same;
    // Half a word, or half a number, is none.
    while (same > 0 && (*least)[same - 1].isLetterOrNumber())
        --same;
    return same;
}

QStringList elidedTogether(const QStringList& labels, const QFontMetricsF& metrics, double width) {
    constexpr qsizetype kWorthIt = 3;  // characters, which an ellipsis stands for
    const qsizetype start = commonStart(labels);
    QStringList elided;
    for (const QString& label : labels) {
        const bool fits = metrics.horizontalAdvance(label) <= width;
        const QString rest = start < kWorthIt ? label : QStringLiteral("…") + label.mid(start);
        elided << (fits ? label : elidedLabel(rest, metrics, width));
    }
    return elided;
}

QString wrapped(const QString& text, const QFontMetricsF& metrics, double width) {
    QStringList lines;
    for (const QString& part : text.split('\n')) {
        QString line;
        for (const QString& word : part.split(' ')) {
            const QString longer = line.isEmpty() ? word : line + ' ' + word;
            if (line.isEmpty() || metrics.horizontalAdvance(longer) <= width) {
                line = longer;
                continue;
            }
            lines << line;
            line = word;
        }
        lines << line;
    }
    return lines.join('\n');
}

}  // namespace roper
