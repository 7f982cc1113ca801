#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace roper {

/// A row of metrics.csv: one reported optimizer step. Our trainer fills all of it; what another program did
/// not record is empty.
struct MetricsRow {
    std::int64_t step = 0;                    ///< 1 for the first step
    std::optional<double> time_s = {};        ///< seconds of training, pauses left out
    std::optional<std::int64_t> tokens = {};  ///< trained on so far
    double loss = 0;                          ///< nats per token
    std::optional<double> learning_rate = {};
    std::optional<double> grad_norm = {};  ///< before clipping
    std::optional<double> tokens_per_s = {};
};

/// A row of evaluations.csv.
struct EvaluationRow {
    std::int64_t step = 0;
    std::optional<double> time_s = {};         ///< as in `MetricsRow`
    std::optional<std::int64_t> correct = {};  ///< problems solved, where the task has problems
    std::optional<std::int64_t> of = {};
    std::optional<double> loss = {};              ///< nats per token on validation sequences
    std::optional<double> loss_lower_bound = {};  ///< of the best predictor, on them
    /// Tokens that the model found likeliest, of those that are scored: of a text all (or the masked ones),
    /// of the prefix task those that follow with certainty from the tokens before.
    std::optional<std::int64_t> tokens_correct = {}, tokens_scored = {};
    std::optional<std::int64_t> overlaps = {};  ///< problems that training had already shown
    /// Of the correct ones, those with every step of their working right; where problems have working.
    std::optional<std::int64_t> fully_correct = {};
};

/// A row of method.csv: a number that only some position methods or attentions have, at a step.
struct MethodRow {
    std::int64_t step = 0;
    std::string quantity;  ///< query_key_frequency, value_frequency, relative_bias or least_denominator
    std::optional<std::int64_t> layer, head;
    std::optional<std::int64_t> index;  ///< pair of a frequency, bucket of a bias
    double value = 0;
};

/// A row of sizes.csv: problems solved of one size by one checkpoint, which may read with scaled frequencies.
struct SizeRow {
    std::int64_t step = 0;
    std::string scaling = "none";  ///< of the frequencies during this evaluation
    double factor = 1;
    std::int64_t first = 0, second = 0;  ///< the two numbers of the size
    std::int64_t correct = 0, of = 0;
    std::optional<std::int64_t> fully_correct = {};  ///< with every step of the working, where there is one
};

/// A row of lengths.csv: one checkpoint of a run without problems on validation sequences of a length.
struct LengthRow {
    std::int64_t step = 0;
    std::string scaling = "none";  ///< of the frequencies during this evaluation
    double factor = 1;
    std::int64_t length = 0;                             ///< tokens of a sequence
    double loss = 0;                                     ///< nats per token
    std::int64_t tokens_correct = 0, tokens_scored = 0;  ///< as in an evaluation
};

/// A row of positions.csv: the loss at one position of such sequences.
struct PositionRow {
    std::int64_t step = 0;
    std::string scaling = "none";
    double factor = 1;
    std::int64_t length = 0;
    std::int64_t position = 0;  ///< of the token that the next one was predicted from, 0-based
    double loss = 0;
};

/// A line of samples.jsonl: one problem of one evaluation. Of a text: a prompt, how the text continues, and
/// what the model generated.
struct Sample {
    std::int64_t step = 0;
    std::string prompt;
    std::string expected;
    std::string completion;
    std::optional<bool> correct = {};  ///< nothing where there is no right or wrong
    /// Of masked tokens: those of the completion that the model had to predict, three numbers each: its first
    /// byte, how many it has, and 1 if it is the right one, else 0.
    std::vector<std::int64_t> predicted = {};
    std::optional<bool> fully_correct = {};  ///< with every step of the working; nothing where there is none
};

/// A column: its name, and the member of the row that holds it. An optional one may be an empty cell (CSV) or
/// null (JSON).
template <class Row>
struct Column {
    std::string_view name;
    std::variant<std::int64_t Row::*, double Row::*, std::string Row::*, std::optional<std::int64_t> Row::*,
                 std::optional<double> Row::*, std::optional<bool> Row::*, std::vector<std::int64_t> Row::*>
        member;
    bool for_tensorboard = false;  ///< also written to the TensorBoard events
};

enum class RowFormat { csv, json_lines };

/// A file of rows in a run folder. Names of files and columns stand in rows.cpp alone; docs/run-folder.md
/// explains them.
template <class Row>
struct RowFile {
    std::string_view name;
    std::vector<Column<Row>> columns;
    RowFormat format = RowFormat::csv;
    /// How many of the columns files of older versions have, the first by rising number; the last are newer.
    std::vector<std::size_t> former_counts = {};
};

/// The file of a kind of row. For `MetricsRow`, `EvaluationRow`, `MethodRow`, `SizeRow`, `LengthRow`,
/// `PositionRow` and `Sample`, as all functions below.
template <class Row>
const RowFile<Row>& rowFile();
template <>
const RowFile<MetricsRow>& rowFile<MetricsRow>();
template <>
const RowFile<EvaluationRow>& rowFile<EvaluationRow>();
template <>
const RowFile<MethodRow>& rowFile<MethodRow>();
template <>
const RowFile<SizeRow>& rowFile<SizeRow>();
template <>
const RowFile<LengthRow>& rowFile<LengthRow>();
template <>
const RowFile<PositionRow>& rowFile<PositionRow>();
template <>
const RowFile<Sample>& rowFile<Sample>();

/// The names of the columns, comma-separated; empty for JSON lines.
template <class Row>
std::string headerLine();

/// Whether a line is the header, of this version or an older one: columns are read by position.
template <class Row>
bool isHeader(std::string_view line);

/// One line, without its end.
template <class Row>
std::string formatRow(const Row& row);

/// @throws Error (usage) saying which column is wrong
template <class Row>
Row parseRow(std::string_view line);

/// The content of a whole file: the header, then the rows.
template <class Row>
std::string formatRows(const std::vector<Row>& rows);

/// The row as an object, in the order of the columns.
template <class Row>
nlohmann::ordered_json rowJson(const Row& row);

/// The values that are curves, with the names of their columns.
template <class Row>
std::vector<std::pair<std::string, double>> tensorboardValues(const Row& row);

/// Whether `a` is the better result: more problems solved or, with as many, the smaller loss.
bool isBetter(const EvaluationRow& a, const EvaluationRow& b);

/// The best row; the earlier one wins a tie. Nothing if there is none.
std::optional<EvaluationRow> bestOf(std::span<const EvaluationRow> rows);

/// The share of scored tokens that the model found likeliest; nothing where none is scored.
std::optional<double> tokenAccuracy(const EvaluationRow& row);

}  // namespace roper
