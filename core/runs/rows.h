#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roper {

/// A row of metrics.csv: one reported optimizer step. Our trainer fills all members; those that another
/// program did not record are empty.
struct MetricsRow {
    std::int64_t step = 0;                    ///< 1 for the first step
    std::optional<double> time_s = {};        ///< training time in seconds, without pauses
    std::optional<std::int64_t> tokens = {};  ///< number of training tokens so far
    double loss = 0;                          ///< nats per token
    std::optional<double> learning_rate = {};
    std::optional<double> grad_norm = {};  ///< norm of all gradients, before clipping
    std::optional<double> tokens_per_s = {};
};

/// A row of evaluations.csv.
struct EvaluationRow {
    std::int64_t step = 0;
    std::optional<double> time_s = {};            ///< as in `MetricsRow`
    std::optional<std::int64_t> correct = {};     ///< number of problems solved, if the task has problems
    std::optional<std::int64_t> total = {};       ///< number of problems
    std::optional<double> loss = {};              ///< nats per token on validation sequences
    std::optional<double> loss_lower_bound = {};  ///< expected loss of an ideal predictor on these sequences
    /// Number of tokens predicted correctly (argmax), and of tokens scored: for a text all or the masked
    /// ones, for the prefix task those determined by the preceding tokens.
    std::optional<std::int64_t> tokens_correct = {}, tokens_scored = {};
    std::optional<std::int64_t> overlaps = {};  ///< problems that already occurred in training
    /// Number of problems solved with every step of the working correct; empty if problems have no working.
    std::optional<std::int64_t> fully_correct = {};
};

/// A row of method.csv: a number that only some position methods or kinds of attention have.
struct MethodRow {
    std::int64_t step = 0;
    std::string quantity;  ///< query_key_frequency, value_frequency, relative_bias, least_denominator
    std::optional<std::int64_t> layer, head;  ///< empty if the number is shared by all
    std::optional<std::int64_t> index;        ///< rotated pair of a frequency, bucket of a bias
    double value = 0;
};

/// A row of sizes.csv: how many problems of one size a checkpoint solves, possibly with scaled frequencies.
struct SizeRow {
    std::int64_t step = 0;
    std::string scaling = "none";        ///< how the frequencies were scaled in this evaluation
    double factor = 1;                   ///< of the scaling
    std::int64_t first = 0, second = 0;  ///< digits of both operands, or letters and index
    std::int64_t correct = 0, total = 0;
    std::optional<std::int64_t> fully_correct = {};  ///< as in `EvaluationRow`
};

/// A row of lengths.csv: a checkpoint's loss on sequences of one length; only for tasks without problems.
struct LengthRow {
    std::int64_t step = 0;
    std::string scaling = "none";  ///< as in `SizeRow`
    double factor = 1;
    std::int64_t length = 0;                             ///< tokens of a sequence
    double loss = 0;                                     ///< nats per token
    std::int64_t tokens_correct = 0, tokens_scored = 0;  ///< as in `EvaluationRow`
};

/// A row of positions.csv: the loss at one position of sequences of one length.
struct PositionRow {
    std::int64_t step = 0;
    std::string scaling = "none";
    double factor = 1;
    std::int64_t length = 0;
    std::int64_t position = 0;  ///< of the token from which the next one is predicted, 0-based
    double loss = 0;
};

/// A line of samples.jsonl: one problem of one evaluation. For a text: a prompt, its true continuation, and
/// what the model generated.
struct Sample {
    std::int64_t step = 0;
    std::string prompt;
    std::string expected;
    std::string completion;
    std::optional<bool> correct = {};  ///< empty if there is no right answer
    /// For masked tokens: the predicted tokens of the completion, three numbers each: offset of the first
    /// byte, number of bytes, and 1 if the prediction is correct, else 0.
    std::vector<std::int64_t> predicted = {};
    std::optional<bool> fully_correct = {};  ///< with correct working; empty if there is none
};

/// The results of one evaluation.
struct Evaluation {
    EvaluationRow row;
    std::vector<Sample> samples;
};

/// The name of the file of a type of row in a run folder: "metrics.csv". Like the templates below, it is
/// defined for `MetricsRow`, `EvaluationRow`, `MethodRow`, `SizeRow`, `LengthRow`, `PositionRow` and
/// `Sample`. Names of files and columns are defined only in rows.cpp; docs/run-folder.md explains them.
template <class Row>
std::string rowFileName();

/// The names of the columns, comma-separated; empty for JSON lines.
template <class Row>
std::string headerLine();

/// Whether a line is the header, in this version or an older one: columns are identified by position.
template <class Row>
bool isHeader(std::string_view line);

/// One line, without the newline.
template <class Row>
std::string formatRow(const Row& row);

/// @throws Error (usage) naming the invalid column
template <class Row>
Row parseRow(std::string_view line);

/// The content of a whole file: the header, then the rows.
template <class Row>
std::string formatRows(const std::vector<Row>& rows);

/// The row as an object, in the order of the columns.
template <class Row>
nlohmann::ordered_json rowJson(const Row& row);

/// The values that TensorBoard shows as curves, with the names of their columns.
template <class Row>
std::vector<std::pair<std::string, double>> tensorboardValues(const Row& row);

/// Whether `a` is the better result: more problems solved or, if equal, the smaller loss.
bool isBetter(const EvaluationRow& a, const EvaluationRow& b);

/// The best row; the earlier one wins a tie. Empty if there are no rows.
std::optional<EvaluationRow> bestOf(std::span<const EvaluationRow> rows);

/// Fraction of scored tokens predicted correctly; empty if none are scored.
std::optional<double> tokenAccuracy(const EvaluationRow& row);

}  // namespace roper
