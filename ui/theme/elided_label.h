#pragma once

#include <QFontMetricsF>
#include <QString>
#include <QStringList>

namespace roper {

/// Elides the label of a run or group to a width in pixels. Labels such as "Addition, width 64: RoPER" lose
/// the end of the title and keep the method; names of runs such as "Addition · RoPER · seed 0" lose the end
/// of the task, then the task; others keep both ends.
QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width);

/// Elides labels that stand next to each other. If one is too wide, their common prefix is removed first, so
/// that the distinctive part remains: "…heads4: RoPER".
QStringList elidedLabels(const QStringList& labels, const QFontMetricsF& metrics, double width);

/// Length of the common prefix of all labels, up to a word boundary; values keep their names, and no label
/// becomes empty. 0 for a single label.
qsizetype commonPrefixLength(const QStringList& labels);

/// Replaces a prefix of this length by an ellipsis, unless the label is hardly longer than that.
QString withoutPrefix(const QString& label, qsizetype length);

/// Wraps a text into lines of at most `width` pixels; a wider word gets its own line.
QString wrapped(const QString& text, const QFontMetricsF& metrics, double width);

}  // namespace roper
