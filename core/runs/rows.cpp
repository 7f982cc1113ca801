#include "core/runs/rows.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"

namespace roper {

using nlohmann::ordered_json;

namespace {

/// A column: its name, and the member of the row that contains its value. An optional member may be
/// an empty cell (CSV) or null (JSON).
template <class Row>
struct Column {
    std::string_view name;
    std::variant<std::int64_t Row::*, double Row::*, std::string Row::*, std::optional<std::int64_t> Row::*,
                 std::optional<double> Row::*, std::optional<bool> Row::*, std::vector<std::int64_t> Row::*>
        member;
    bool in_tensorboard = false;  ///< also written to the TensorBoard events
};

enum class RowFormat { csv, json_lines };

/// A file of rows in a run folder.
template <class Row>
struct RowFile {
    std::string_view name;
    std::vector<Column<Row>> columns;
    RowFormat format = RowFormat::csv;
    /// Numbers of columns in files of older versions, ascending; such files lack the last columns.
    std::vector<std::size_t> legacy_column_counts = {};
};

template <class Row>
const RowFile<Row>& rowFile();

#define ROPER_ROW_FILE(Type, ...)                    \
    template <>                                      \
    const RowFile<Type>& rowFile<Type>() {           \
        using Row = Type;                            \
        static const RowFile<Row> file{__VA_ARGS__}; \
        return file;                                 \
    }

ROPER_ROW_FILE(MetricsRow, "metrics.csv",
               {{"step", &Row::step},
                {"time_s", &Row::time_s},
                {"tokens", &Row::tokens},
                {"loss", &Row::loss, true},
                {"learning_rate", &Row::learning_rate, true},
                {"grad_norm", &Row::grad_norm, true},
                {"tokens_per_s", &Row::tokens_per_s, true}})

ROPER_ROW_FILE(EvaluationRow, "evaluations.csv",
               {{"step", &Row::step},
                {"time_s", &Row::time_s},
                {"correct", &Row::correct, true},
                {"of", &Row::total},
                {"loss", &Row::loss, true},
                {"loss_lower_bound", &Row::loss_lower_bound, true},
                {"tokens_correct", &Row::tokens_correct},
                {"tokens_scored", &Row::tokens_scored},
                {"overlaps", &Row::overlaps},
                {"fully_correct", &Row::fully_correct, true}},
               RowFormat::csv, {6, 9})

ROPER_ROW_FILE(MethodRow, "method.csv",
               {{"step", &Row::step},
                {"quantity", &Row::quantity},
                {"layer", &Row::layer},
                {"head", &Row::head},
                {"index", &Row::index},
                {"value", &Row::value}})

ROPER_ROW_FILE(SizeRow, "sizes.csv",
               {{"step", &Row::step},
                {"scaling", &Row::scaling},
                {"factor", &Row::factor},
                {"first", &Row::first},
                {"second", &Row::second},
                {"correct", &Row::correct},
                {"of", &Row::total},
                {"fully_correct", &Row::fully_correct, true}},
               RowFormat::csv, {7})

ROPER_ROW_FILE(LengthRow, "lengths.csv",
               {{"step", &Row::step},
                {"scaling", &Row::scaling},
                {"factor", &Row::factor},
                {"length", &Row::length},
                {"loss", &Row::loss},
                {"tokens_correct", &Row::tokens_correct},
                {"tokens_scored", &Row::tokens_scored}})

ROPER_ROW_FILE(PositionRow, "positions.csv",
               {{"step", &Row::step},
                {"scaling", &Row::scaling},
                {"factor", &Row::factor},
                {"length", &Row::length},
                {"position", &Row::position},
                {"loss", &Row::loss}})

ROPER_ROW_FILE(Sample, "samples.jsonl",
               {{"step", &Row::step},
                {"prompt", &Row::prompt},
                {"expected", &Row::expected},
                {"completion", &Row::completion},
                {"correct", &Row::correct},
                {"predicted", &Row::predicted},
                {"fully_correct", &Row::fully_correct}},
               RowFormat::json_lines, {5, 6})

/// Conversion of a value to and from a CSV cell.
std::string cellOf(std::int64_t value) {
    return std::to_string(value);
}
std::string cellOf(double value) {
    return formatNumber(value);
}
std::string cellOf(const std::string& value) {
    return value;
}
std::string cellOf(bool value) {
    return value ? "true" : "false";
}
std::string cellOf(const std::vector<std::int64_t>& values) {
    return join(mapped(values, [](std::int64_t value) { return cellOf(value); }), " ");
}
template <class Value>
std::string cellOf(const std::optional<Value>& value) {
    return value ? cellOf(*value) : "";
}

bool readCell(const std::string& cell, std::int64_t& value) {
    const auto parsed = parseInteger(cell);
    value = parsed.value_or(0);
    return parsed.has_value();
}
bool readCell(const std::string& cell, double& value) {
    const auto parsed = parseNumber(cell);
    value = parsed.value_or(0);
    return parsed.has_value();
}
bool readCell(const std::string& cell, std::string& value) {
    value = cell;
    return true;
}
bool readCell(const std::string& cell, bool& value) {
    value = cell == "true";
    return value || cell == "false";
}
bool readCell(const std::string& cell, std::vector<std::int64_t>& values) {
    values.clear();
    for (const std::string& number : cell.empty() ? std::vector<std::string>{} : split(cell, ' ')) {
        const auto parsed = parseInteger(number);
        if (!parsed) return false;
        values.push_back(*parsed);
    }
    return true;
}
template <class Value>
bool readCell(const std::string& cell, std::optional<Value>& value) {
    if (cell.empty()) return true;
    return readCell(cell, value.emplace());
}

template <class Value>
ordered_json jsonOf(const Value& value) {
    return value;
}
template <class Value>
ordered_json jsonOf(const std::optional<Value>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

template <class Value>
void readJson(const nlohmann::json& object, const std::string& name, Value& value) {
    if constexpr (std::is_same_v<Value, std::int64_t>)
        value = integerMember(object, name);
    else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>)
        for (const nlohmann::json& one : object.at(name).get_ref<const nlohmann::json::array_t&>())
            value.push_back(integerMember({{name, one}}, name));
    else
        object.at(name).get_to(value);
}
template <class Value>
void readJson(const nlohmann::json& object, const std::string& name, std::optional<Value>& value) {
    if (!object.at(name).is_null()) readJson(object, name, value.emplace());
}

/// The value as a point of a curve, if it is numeric.
template <class Value>
std::optional<double> numberOf(const Value& value) {
    if constexpr (std::is_arithmetic_v<Value>)
        return static_cast<double>(value);
    else
        return std::nullopt;
}
template <class Value>
std::optional<double> numberOf(const std::optional<Value>& value) {
    return value ? numberOf(*value) : std::nullopt;
}

/// Checks relations between cells.
template <class Row>
void requireConsistent(const Row&) {}

template <>
void requireConsistent(const LengthRow& row) {
    if (row.tokens_correct < 0 || row.tokens_correct > row.tokens_scored)
        throw Error(ErrorKind::usage, "\"tokens_correct\" must lie between 0 and \"tokens_scored\"");
}

template <>
void requireConsistent(const PositionRow& row) {
    if (row.position < 0) throw Error(ErrorKind::usage, "\"position\" must not be negative");
}

template <class Row>
Row parseCells(std::string_view line) {
    const RowFile<Row>& file = rowFile<Row>();
    std::vector<std::string> cells = split(line, ',');
    const auto& former = file.legacy_column_counts;
    if (hasElement(former, cells.size())) cells.resize(file.columns.size());
    if (cells.size() != file.columns.size())
        throw Error(ErrorKind::usage, "a row has " + std::to_string(cells.size()) + " columns instead of " +
                                          std::to_string(file.columns.size()) + ": " + quoteExcerpt(line));
    Row row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const bool ok =
            std::visit([&](auto member) { return readCell(cells[i], row.*member); }, file.columns[i].member);
        if (!ok)
            throw Error(ErrorKind::usage, "column " + std::string(file.columns[i].name) + " contains " +
                                              quoteExcerpt(cells[i]) + ", which is not a number");
    }
    return row;
}

template <class Row>
Row parseObject(std::string_view line) {
    try {
        const nlohmann::json json = parseStrictJson(line);
        Row row;
        const RowFile<Row>& file = rowFile<Row>();
        const std::size_t required =
            file.legacy_column_counts.empty() ? file.columns.size() : file.legacy_column_counts.front();
        for (std::size_t i = 0; i < file.columns.size(); ++i) {
            const std::string name(file.columns[i].name);
            if (i >= required && !json.contains(name)) continue;
            std::visit([&](auto member) { readJson(json, name, row.*member); }, file.columns[i].member);
        }
        return row;
    } catch (const std::exception& error) {
        throw Error(ErrorKind::usage,
                    "not a line of " + rowFileName<Row>() + ": " + jsonErrorMessage(error.what()));
    }
}

}  // namespace

template <class Row>
std::string rowFileName() {
    return std::string(rowFile<Row>().name);
}

template <class Row>
std::string headerLine() {
    if (rowFile<Row>().format != RowFormat::csv) return "";
    return join(
        mapped(rowFile<Row>().columns, [](const Column<Row>& column) { return std::string(column.name); }),
        ",");
}

template <class Row>
bool isHeader(std::string_view line) {
    return rowFile<Row>().format == RowFormat::csv && line.starts_with("step,");
}

template <class Row>
std::string formatRow(const Row& row) {
    if (rowFile<Row>().format == RowFormat::json_lines) return jsonText(rowJson(row));
    const auto cell = [&](const Column<Row>& column) {
        return std::visit([&](auto member) { return cellOf(row.*member); }, column.member);
    };
    return join(mapped(rowFile<Row>().columns, cell), ",");
}

template <class Row>
Row parseRow(std::string_view line) {
    Row row = rowFile<Row>().format == RowFormat::csv ? parseCells<Row>(line) : parseObject<Row>(line);
    requireConsistent(row);
    return row;
}

template <class Row>
std::string formatRows(const std::vector<Row>& rows) {
    const std::string header = headerLine<Row>();
    std::string text = header.empty() ? "" : header + "\n";
    for (const Row& row : rows)
        text += formatRow(row) + "\n";
    return text;
}

template <class Row>
ordered_json rowJson(const Row& row) {
    ordered_json json = ordered_json::object();
    for (const Column<Row>& column : rowFile<Row>().columns)
        json[std::string(column.name)] =
            std::visit([&](auto member) { return jsonOf(row.*member); }, column.member);
    return json;
}

template <class Row>
std::vector<std::pair<std::string, double>> tensorboardValues(const Row& row) {
    std::vector<std::pair<std::string, double>> values;
    for (const Column<Row>& column : rowFile<Row>().columns) {
        if (!column.in_tensorboard) continue;
        const auto value = std::visit([&](auto member) { return numberOf(row.*member); }, column.member);
        if (value) values.emplace_back(column.name, *value);
    }
    return values;
}

#define ROPER_INSTANTIATE_ROWS(Row)                           \
    template std::string rowFileName<Row>();                  \
    template std::string headerLine<Row>();                   \
    template bool isHeader<Row>(std::string_view);            \
    template std::string formatRow(const Row&);               \
    template Row parseRow(std::string_view);                  \
    template std::string formatRows(const std::vector<Row>&); \
    template ordered_json rowJson(const Row&);                \
    template std::vector<std::pair<std::string, double>> tensorboardValues(const Row&)

ROPER_INSTANTIATE_ROWS(MetricsRow);
ROPER_INSTANTIATE_ROWS(EvaluationRow);
ROPER_INSTANTIATE_ROWS(MethodRow);
ROPER_INSTANTIATE_ROWS(SizeRow);
ROPER_INSTANTIATE_ROWS(LengthRow);
ROPER_INSTANTIATE_ROWS(PositionRow);
ROPER_INSTANTIATE_ROWS(Sample);

bool isBetter(const EvaluationRow& a, const EvaluationRow& b) {
    if (a.correct && b.correct && *a.correct != *b.correct) return *a.correct > *b.correct;
    return a.correct == b.correct && a.loss && b.loss && *a.loss < *b.loss;
}

std::optional<EvaluationRow> bestOf(std::span<const EvaluationRow> rows) {
    std::optional<EvaluationRow> best;
    for (const EvaluationRow& row : rows)
        if (!best || isBetter(row, *best)) best = row;
    return best;
}

std::optional<double> tokenAccuracy(const EvaluationRow& row) {
    if (!row.tokens_correct || row.tokens_scored.value_or(0) == 0) return std::nullopt;
    return static_cast<double>(*row.tokens_correct) / static_cast<double>(*row.tokens_scored);
}

}  // namespace roper
