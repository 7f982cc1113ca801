#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// A row of metrics.csv: one reported optimizer step.
struct MetricsRow {
    std::int64_t step = 0;    ///< 1 for the first step
    double time_s = 0;        ///< seconds of training, pauses left out
    std::int64_t tokens = 0;  ///< trained on so far
    double loss = 0;          ///< nats a token
    double learning_rate = 0;
    double grad_norm = 0;  ///< before clipping
    double tokens_per_s = 0;
};

/// A row of evaluations.csv.
struct EvaluationRow {
    std::int64_t step = 0;
    double time_s = 0;
    std::optional<std::int64_t> correct;  ///< problems solved, where the task has problems
    std::optional<std::int64_t> of;
    std::optional<double> loss;                   ///< nats a token on fresh sequences
    std::optional<double> floor;                  ///< the least loss possible on them
    std::optional<std::int64_t> recalled = {};    ///< letters that follow with certainty and were likeliest
    std::optional<std::int64_t> recallable = {};  ///< letters that follow with certainty
    std::optional<std::int64_t> overlaps = {};    ///< problems that training had already shown
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
    std::string scaling = "none";  ///< of the frequencies while it was asked
    double factor = 1;
    std::int64_t first = 0, second = 0;  ///< the two numbers of the size
    std::int64_t correct = 0, of = 0;
};

/// A row of lengths.csv: what one checkpoint of a run without problems makes of validation sequences of a
/// length.
struct LengthRow {
    std::int64_t step = 0;
    std::string scaling = "none";  ///< of the frequencies while it read them
    double factor = 1;
    std::int64_t length = 0;            ///< tokens of a sequence
    double loss = 0;                    ///< nats a token
    std::int64_t right = 0, asked = 0;  ///< as `recalled` of `recallable` of an evaluation
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

/// Whether `a` is the better result: more problems solved or, with as many, the smaller loss.
bool isBetter(const EvaluationRow& a, const EvaluationRow& b);

/// The best row; the earlier one wins a tie. Nothing if there is none.
std::optional<EvaluationRow> bestOf(const std::vector<EvaluationRow>& rows);

inline constexpr std::string_view kMetricsHeader =
    "step,time_s,tokens,loss,learning_rate,grad_norm,tokens_per_s";
inline constexpr std::string_view kEvaluationsHeader =
    "step,time_s,correct,of,loss,floor,recalled,recallable,overlaps";
inline constexpr std::string_view kMethodHeader = "step,quantity,layer,head,index,value";
inline constexpr std::string_view kSizesHeader = "step,scaling,factor,first,second,correct,of";
inline constexpr std::string_view kLengthsHeader = "step,scaling,factor,length,loss,right,asked";
inline constexpr std::string_view kPositionsHeader = "step,scaling,factor,length,position,loss";

std::string formatRow(const MetricsRow& row);
std::string formatRow(const EvaluationRow& row);
std::string formatRow(const MethodRow& row);
std::string formatRow(const SizeRow& row);
std::string formatRow(const LengthRow& row);
std::string formatRow(const PositionRow& row);

/// Whether a line is a header, of this version or an older one.
bool isHeader(std::string_view line);

/// @throws Error (usage) saying which column is wrong
MetricsRow parseMetricsRow(std::string_view line);
EvaluationRow parseEvaluationRow(std::string_view line);
MethodRow parseMethodRow(std::string_view line);
SizeRow parseSizeRow(std::string_view line);
LengthRow parseLengthRow(std::string_view line);
PositionRow parsePositionRow(std::string_view line);

/// Follows a file of lines that another process appends to. A last line without newline is not handed out
/// until it is whole; a file that was replaced or cut is read again from its start.
class LineTail {
  public:
    explicit LineTail(std::filesystem::path path) : path_(std::move(path)) {}

    struct News {
        bool restarted = false;  ///< forget the lines handed out before
        bool more = false;       ///< the file holds further whole lines; poll again
        std::vector<std::string> lines;
    };

    /// The lines added since the last call; a missing file has none. At most about `most_bytes` are read at
    /// once.
    News poll(std::size_t most_bytes = 8U << 20U);

  private:
    std::filesystem::path path_;
    std::uint64_t inode_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace roper
