#include "ui/theme/elided_label.h"

#include <algorithm>

namespace roper {

QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width) {
    const qsizetype task_end = label.indexOf(QStringLiteral(" · "));
    if (task_end > 0) {
        const QString rest = label.mid(task_end);
        const double room = width - metrics.horizontalAdvance(rest);
        if (room >= metrics.horizontalAdvance(QStringLiteral("…")))
            return metrics.elidedText(label.left(task_end), Qt::ElideRight, room) + rest;
        return metrics.elidedText(rest.mid(3), Qt::ElideMiddle, width);
    }
    const qsizetype end = label.lastIndexOf(QStringLiteral(": "));
    const double method = end < 0 ? width : metrics.horizontalAdvance(label.mid(end));
    // A method that fills more than half of the width would leave no readable title.
    if (method > width / 2) return metrics.elidedText(label, Qt::ElideMiddle, width);
    return metrics.elidedText(label.left(end), Qt::ElideRight, width - method) + label.mid(end);
}

namespace {

/// Whether a label may be cut before a position: at word boundaries, but neither within "1e-3" nor between
/// "width" and its number.
bool mayBeCutBefore(const QString& label, qsizetype place) {
    static const QString ends = QStringLiteral(" -_/:");
    if (place == 0) return true;
    if (place >= label.size() || label[place] == ' ' || !ends.contains(label[place - 1])) return false;
    const QChar before = place > 1 ? label[place - 2] : QChar();
    const bool is_value = label[place - 1] == ' ' && before.isLetter() && label[place].isDigit();
    const bool is_exponent =
        label[place - 1] == '-' && before.toLower() == 'e' && place > 2 && label[place - 3].isDigit();
    return !is_value && !is_exponent;
}

}  // namespace

qsizetype commonPrefixLength(const QStringList& labels) {
    if (labels.size() < 2) return 0;
    const auto [least, greatest] = std::ranges::minmax_element(labels);
    qsizetype same = std::ranges::mismatch(*least, *greatest).in1 - least->begin();
    const auto may_be_cut = [&](const QString& label) { return mayBeCutBefore(label, same); };
    while (!std::ranges::all_of(labels, may_be_cut))
        --same;
    return same;
}

QString withoutPrefix(const QString& label, qsizetype length) {
    constexpr qsizetype kWorthIt = 3;
    return length < kWorthIt ? label : QStringLiteral("…") + label.mid(length);
}

QStringList elidedLabels(const QStringList& labels, const QFontMetricsF& metrics, double width) {
    const qsizetype prefix = commonPrefixLength(labels);
    QStringList elided;
    for (const QString& label : labels)
        elided << (metrics.horizontalAdvance(label) <= width
                       ? label
                       : elidedLabel(withoutPrefix(label, prefix), metrics, width));
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
