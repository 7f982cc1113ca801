#pragma once

#include <QString>
#include <concepts>
#include <optional>
#include <string>

namespace roper {

/// A cell of a CSV file, quoted if it contains a comma, a quote or a line break.
inline QString quoted(const QString& cell) {
    if (!cell.contains(',') && !cell.contains('"') && !cell.contains('\n')) return cell;
    return '"' + QString(cell).replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

/// A column name made from the name of an axis.
inline QString columnName(QString name) {
    return name.remove(',').replace(' ', '_');
}

/// Text of a CSV file, built line by line.
class CsvText {
  public:
    /// @param header  column names, separated by commas
    explicit CsvText(const QString& header) : text_(header + '\n') {}

    /// Adds a line. Numbers keep all digits, texts are quoted if necessary, and missing numbers are empty
    /// cells.
    template <class... Cells>
    void line(const Cells&... cells) {
        (cell(cells), ...);
        end();
    }

    /// The same for any number of cells, added one by one before the line is ended.
    template <class Cell>
    void cell(const Cell& value) {
        add(value);
        text_ += ',';
    }
    void end() { text_.back() = '\n'; }

    const QString& text() const { return text_; }

  private:
    void add(double number) { text_ += QString::number(number, 'g', 17); }
    void add(const std::optional<double>& number) {
        if (number) add(*number);
    }
    void add(const QString& word) { text_ += quoted(word); }
    void add(const char* word) { add(QString::fromUtf8(word)); }
    void add(const std::string& word) { add(QString::fromStdString(word)); }
    void add(std::integral auto number) { text_ += QString::number(number); }

    QString text_;
};

}  // namespace roper
