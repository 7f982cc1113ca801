#pragma once

#include <QFontMetricsF>
#include <QString>
#include <QStringList>

namespace roper {

/// A label of a run or a group that is no wider than so many pixels. Of "Addition, width 64: RoPER" the end
/// of the title goes, and the method stays; any other label keeps both ends.
QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width);

/// Labels that stand beside each other. Where one is too wide, what all of them begin with goes first, so
/// that what tells them apart is left: "…heads4: RoPER".
QStringList elidedTogether(const QStringList& labels, const QFontMetricsF& metrics, double width);

/// How many characters all labels have in common at their start, up to the end of a word; a value keeps its
/// name, and each label something: 0 for a single one.
qsizetype commonPrefixLength(const QStringList& labels);

/// A label with an ellipsis for so many characters at its start; whole where they are hardly more than that.
QString withoutPrefix(const QString& label, qsizetype length);

/// A text with its lines broken so that none is wider than `width` pixels; a word that is wider has its own.
QString wrapped(const QString& text, const QFontMetricsF& metrics, double width);

}  // namespace roper
