#pragma once

#include <QString>
#include <concepts>
#include <optional>
#include <string>

namespace roper {

/// A cell of a CSV file: in quotes where it holds a comma, a quote or a line break.
inline QString quoted(const QString& cell) {
    if (!cell.contains(',') && !cell.contains('"') && !cell.contains('\n')) return cell;
    return '"' + QString(cell).replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

// Numbers are written so that they are read back as they were.
inline QString csvCell(double number) {
    return QString::number(number, 'g', 17);
}
inline QString csvCell(std::integral auto number) {
    return QString::number(number);
}
inline QString csvCell(const QString& text) {
    return quoted(text);
}
inline QString csvCell(const std::string& text) {
    return quoted(QString::fromStdString(text));
}
/// Empty where it is not known.
inline QString csvCell(const std::optional<double>& number) {
    return number ? csvCell(*number) : QString();
}

/// Cells, of texts or numbers, as a line with its end.
template <class... Cells>
QString csvRow(const Cells&... cells) {
    QString row;
    ((row += csvCell(cells) + ','), ...);
    row.back() = '\n';
    return row;
}

}  // namespace roper
