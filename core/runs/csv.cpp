#include "core/runs/csv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// Columns of evaluations.csv before those of recall and overlaps were added.
constexpr std::size_t kColumnsAtFirst = 6;

/// The cells of one row, read left to right; errors name the column.
class Cells {
  public:
    /// @param fewest  a number of columns that is enough; those after it then are empty
    Cells(std::string_view line, std::string_view header, std::size_t fewest = 0)
        : names_(split(header, ',')), cells_(split(line, ',')) {
        if (cells_.size() == fewest) cells_.resize(names_.size());
        if (cells_.size() != names_.size())
            throw Error(ErrorKind::usage, "a row has " + std::to_string(cells_.size()) +
                                              " columns instead of " + std::to_string(names_.size()) +
                                              ": \"" + std::string(line) + "\"");
    }

    std::string text() { return cells_[next_++]; }
    std::int64_t integer() { return need(parseInteger(cells_[next_])); }
    double number() { return need(parseNumber(cells_[next_])); }
    std::optional<std::int64_t> optionalInteger() {
        if (skipEmpty()) return std::nullopt;
        return integer();
    }
    std::optional<double> optionalNumber() {
        if (skipEmpty()) return std::nullopt;
        return number();
    }

  private:
    bool skipEmpty() {
        if (!cells_[next_].empty()) return false;
        ++next_;
        return true;
    }
    template <class Value>
    Value need(std::optional<Value> value) {
        if (!value)
            throw Error(ErrorKind::usage, "column " + names_[next_] + " holds \"" + cells_[next_] +
                                              "\", which is not a number");
        ++next_;
        return *value;
    }

    std::vector<std::string> names_;
    std::vector<std::string> cells_;
    std::size_t next_ = 0;
};

std::string cell(const std::optional<std::int64_t>& value) {
    return value ? std::to_string(*value) : "";
}

std::string cell(const std::optional<double>& value) {
    return value ? formatNumber(*value) : "";
}

}  // namespace

bool isBetter(const EvaluationRow& a, const EvaluationRow& b) {
    if (a.correct && b.correct && *a.correct != *b.correct) return *a.correct > *b.correct;
    return a.correct == b.correct && a.loss && b.loss && *a.loss < *b.loss;
}

std::optional<EvaluationRow> bestOf(const std::vector<EvaluationRow>& rows) {
    std::optional<EvaluationRow> best;
    for (const EvaluationRow& row : rows)
        if (!best || isBetter(row, *best)) best = row;
    return best;
}

std::string formatRow(const MetricsRow& row) {
    return join({std::to_string(row.step), formatNumber(row.time_s), std::to_string(row.tokens),
                 formatNumber(row.loss), formatNumber(row.learning_rate), formatNumber(row.grad_norm),
                 formatNumber(row.tokens_per_s)},
                ",");
}

std::string formatRow(const EvaluationRow& row) {
    return join(
        {std::to_string(row.step), formatNumber(row.time_s), cell(row.correct), cell(row.of), cell(row.loss),
         cell(row.floor), cell(row.recalled), cell(row.recallable), cell(row.overlaps)},
        ",");
}

std::string formatRow(const MethodRow& row) {
    return join({std::to_string(row.step), row.quantity, cell(row.layer), cell(row.head), cell(row.index),
                 formatNumber(row.value)},
                ",");
}

std::string formatRow(const SizeRow& row) {
    return join({std::to_string(row.step), row.scaling, formatNumber(row.factor), std::to_string(row.first),
                 std::to_string(row.second), std::to_string(row.correct), std::to_string(row.of)},
                ",");
}

std::string formatRow(const LengthRow& row) {
    return join({std::to_string(row.step), row.scaling, formatNumber(row.factor), std::to_string(row.length),
                 formatNumber(row.loss), std::to_string(row.right), std::to_string(row.asked)},
                ",");
}

std::string formatRow(const PositionRow& row) {
    return join({std::to_string(row.step), row.scaling, formatNumber(row.factor), std::to_string(row.length),
                 std::to_string(row.position), formatNumber(row.loss)},
                ",");
}

bool isHeader(std::string_view line) {
    return line.starts_with("step,");
}

MetricsRow parseMetricsRow(std::string_view line) {
    Cells cells(line, kMetricsHeader);
    MetricsRow row;
    row.step = cells.integer();
    row.time_s = cells.number();
    row.tokens = cells.integer();
    row.loss = cells.number();
    row.learning_rate = cells.number();
    row.grad_norm = cells.number();
    row.tokens_per_s = cells.number();
    return row;
}

EvaluationRow parseEvaluationRow(std::string_view line) {
    Cells cells(line, kEvaluationsHeader, kColumnsAtFirst);
    EvaluationRow row;
    row.step = cells.integer();
    row.time_s = cells.number();
    row.correct = cells.optionalInteger();
    row.of = cells.optionalInteger();
    row.loss = cells.optionalNumber();
    row.floor = cells.optionalNumber();
    row.recalled = cells.optionalInteger();
    row.recallable = cells.optionalInteger();
    row.overlaps = cells.optionalInteger();
    return row;
}

MethodRow parseMethodRow(std::string_view line) {
    Cells cells(line, kMethodHeader);
    MethodRow row;
    row.step = cells.integer();
    row.quantity = cells.text();
    row.layer = cells.optionalInteger();
    row.head = cells.optionalInteger();
    row.index = cells.optionalInteger();
    row.value = cells.number();
    return row;
}

SizeRow parseSizeRow(std::string_view line) {
    Cells cells(line, kSizesHeader);
    SizeRow row;
    row.step = cells.integer();
    row.scaling = cells.text();
    row.factor = cells.number();
    row.first = cells.integer();
    row.second = cells.integer();
    row.correct = cells.integer();
    row.of = cells.integer();
    return row;
}

LengthRow parseLengthRow(std::string_view line) {
    Cells cells(line, kLengthsHeader);
    LengthRow row;
    row.step = cells.integer();
    row.scaling = cells.text();
    row.factor = cells.number();
    row.length = cells.integer();
    row.loss = cells.number();
    row.right = cells.integer();
    row.asked = cells.integer();
    if (row.right < 0 || row.right > row.asked)
        throw Error(ErrorKind::usage, "\"right\" must lie between 0 and \"asked\"");
    return row;
}

PositionRow parsePositionRow(std::string_view line) {
    Cells cells(line, kPositionsHeader);
    PositionRow row;
    row.step = cells.integer();
    row.scaling = cells.text();
    row.factor = cells.number();
    row.length = cells.integer();
    row.position = cells.integer();
    row.loss = cells.number();
    if (row.position < 0) throw Error(ErrorKind::usage, "\"position\" must not be negative");
    return row;
}

LineTail::News LineTail::poll(std::size_t most_bytes) {
    News news;
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        news.restarted = offset_ > 0;
        offset_ = 0;
        return news;
    }
    struct stat info {};
    ::fstat(file, &info);
    const auto size = static_cast<std::uint64_t>(info.st_size);
    if (info.st_ino != inode_ || size < offset_) {
        news.restarted = offset_ > 0;
        inode_ = info.st_ino;
        offset_ = 0;
    }
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size - offset_, most_bytes)), '\0');
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset_));
    ::close(file);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::size_t end = bytes.rfind('\n');
    if (end == std::string::npos) return news;
    offset_ += end + 1;
    news.more = bytes.size() == most_bytes && offset_ < size;
    news.lines = split(std::string_view(bytes).substr(0, end), '\n');
    return news;
}

}  // namespace roper
