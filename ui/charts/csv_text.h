#pragma once

#include <QString>

namespace roper {

/// A cell of a CSV file: in quotes where it holds a comma, a quote or a line break.
inline QString quoted(const QString& cell) {
    if (!cell.contains(',') && !cell.contains('"') && !cell.contains('\n')) return cell;
    return '"' + QString(cell).replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

}  // namespace roper
