#pragma once

#include <QFontMetricsF>
#include <QString>

namespace roper {

/// A label of a run or a group that is no wider than so many pixels. Of "Addition, width 64: RoPER" the end
/// of the title goes, and the method stays; any other label keeps both ends.
QString elidedLabel(const QString& label, const QFontMetricsF& metrics, double width);

}  // namespace roper
