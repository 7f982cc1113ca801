#include "core/runs/metrics_import.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/runs/run_recorder.h"

namespace roper {
namespace {

constexpr std::size_t kMostColumns = 1000;
constexpr std::size_t kFirstRows = 20;
constexpr double kMostSteps = 1e9;

[[noreturn]] void refuseLine(const std::string& origin, std::size_t line, const std::string& what) {
    throw Error(ErrorKind::usage, origin + ":" + std::to_string(line) + ": " + what);
}

/// A line as programs of all systems mean it: without the '\r' of its end, and the first without the mark of
/// UTF-8.
std::string_view plainLine(std::string_view line, std::size_t number) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    return line;
}

/// Cells of a line; quotes keep a separator, and two of them stand for one.
std::vector<std::string> cellsOf(std::string_view line, char separator) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
            cells.back() += '"';
            ++i;
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == separator && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    return cells;
}

/// The separator that the header has most of.
char separatorOf(std::string_view header) {
    char best = ',';
    for (const char separator : {',', ';', '\t'})
        if (std::count(header.begin(), header.end(), separator) >
            std::count(header.begin(), header.end(), best))
            best = separator;
    return best;
}

std::optional<double> numberIn(const std::string& cell) {
    const std::string text = trimmed(cell);
    if (text == "NaN" || text == "NAN") return std::numeric_limits<double>::quiet_NaN();
    return parseNumber(text);
}

/// Python writes NaN and Infinity, which are no JSON; such cells are empty.
std::string withoutNotANumber(std::string_view line) {
    constexpr std::array<std::string_view, 3> kWords = {"-Infinity", "Infinity", "NaN"};
    std::string json;
    for (std::size_t at = 0; at < line.size();) {
        const bool may_begin = at > 0 && (line[at - 1] == ' ' || line[at - 1] == ':');
        const auto word = std::find_if(kWords.begin(), kWords.end(), [&](std::string_view one) {
            return may_begin && line.substr(at).starts_with(one);
        });
        if (word == kWords.end()) {
            json += line[at++];
        } else {
            json += "null";
            at += word->size();
        }
    }
    return json;
}

nlohmann::json parseJson(std::string_view line, const std::string& origin, std::size_t number) {
    nlohmann::json json;
    try {
        json = parseStrictJson(withoutNotANumber(line));
    } catch (const std::invalid_argument& error) {
        refuseLine(origin, number, std::string("not JSON: ") + error.what());
    }
    if (!json.is_object()) refuseLine(origin, number, "a line must be one JSON object");
    return json;
}

/// Reads a file of another program from its first line to its last.
class TableReader {
  public:
    explicit TableReader(ForeignTable& table) : table_(table) {}

    void read() {
        table_.lines([this](std::string_view line) {
            ++number_;
            line = plainLine(line, number_);
            if (trimmed(line).empty()) return;
            if (std::exchange(is_first_, false)) {
                table_.is_json = trimmed(line).starts_with('{');
                if (!table_.is_json) return readHeader(line);
            }
            if (table_.is_json)
                readObject(line);
            else
                readCells(line);
            ++table_.row_count;
        });
        if (is_first_) throw Error(ErrorKind::usage, table_.origin + " is empty");
        if (table_.row_count == 0) throw Error(ErrorKind::usage, table_.origin + " has a header but no rows");
        for (ForeignTable::Row& row : table_.first_rows)
            row.resize(table_.columns.size());
    }

  private:
    void readHeader(std::string_view line) {
        table_.separator = separatorOf(line);
        for (const std::string& name : cellsOf(line, table_.separator))
            table_.columns.push_back(trimmed(name));
    }

    void readCells(std::string_view line) {
        const std::vector<std::string> cells = cellsOf(line, table_.separator);
        if (cells.size() != table_.columns.size())
            refuseLine(table_.origin, number_,
                       "the row has " + std::to_string(cells.size()) + " columns, the header " +
                           std::to_string(table_.columns.size()));
        ForeignTable::Row row;
        for (const std::string& cell : cells) {
            row.push_back(numberIn(cell));
            if (!row.back() && !trimmed(cell).empty()) ++table_.unread;
        }
        keep(std::move(row));
    }

    void readObject(std::string_view line) {
        const nlohmann::json json = parseJson(line, table_.origin, number_);
        ForeignTable::Row row(table_.columns.size());
        for (const auto& [key, value] : json.items()) {
            if (!value.is_number() && !value.is_null()) continue;
            const auto [at, is_new] = place_.emplace(key, table_.columns.size());
            if (is_new && table_.columns.size() == kMostColumns)
                refuseLine(table_.origin, number_,
                           "more than " + std::to_string(kMostColumns) + " different keys");
            if (is_new) {
                table_.columns.push_back(key);
                row.emplace_back();
            }
            if (value.is_number()) row[at->second] = value.get<double>();
        }
        keep(std::move(row));
    }

    void keep(ForeignTable::Row row) {
        if (table_.first_rows.size() < kFirstRows) table_.first_rows.push_back(std::move(row));
    }

    ForeignTable& table_;
    std::size_t number_ = 0;
    bool is_first_ = true;
    std::map<std::string, std::size_t> place_;
};

/// "Train/Loss" and "train_loss" are the same name.
std::string plain(const std::string& name) {
    std::string text;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// The columns of a table that fields of a run are taken from.
class ImportColumns {
  public:
    ImportColumns(const ForeignTable& table, const std::map<std::string, std::string>& mapping) {
        for (const auto& [field, column] : mapping) {
            if (column.empty()) continue;
            const auto found = std::find(table.columns.begin(), table.columns.end(), column);
            if (found == table.columns.end())
                throw Error(ErrorKind::usage, table.origin + " has no column \"" + column + "\" for " +
                                                  field + "; it has " + join(table.columns, ", "));
            place_[field] = wanted_.size();
            wanted_.push_back(static_cast<std::size_t>(found - table.columns.begin()));
        }
    }

    /// Of the table, to be read.
    const std::vector<std::size_t>& wanted() const { return wanted_; }
    bool has(const std::string& field) const { return place_.count(field) > 0; }

    std::optional<double> of(const ForeignTable::Row& row, const std::string& field) const {
        const auto place = place_.find(field);
        return place == place_.end() ? std::nullopt : row[place->second];
    }
    std::optional<std::int64_t> countOf(const ForeignTable::Row& row, const std::string& field) const {
        const auto value = of(row, field);
        constexpr double kMost = 1e15;
        return value && std::abs(*value) < kMost
                   ? std::optional(static_cast<std::int64_t>(std::llround(*value)))
                   : std::nullopt;
    }

  private:
    std::vector<std::size_t> wanted_;
    std::map<std::string, std::size_t> place_;
};

/// Where the rows of an imported run go.
struct ImportedRows {
    std::function<void(const MetricsRow&)> metrics;
    std::function<void(const EvaluationRow&)> evaluation;
};

/// Makes a run's rows of those of a table. Programs write several rows of one step, each with some of the
/// numbers: those of an evaluation are joined, of losses the first counts.
class RowMaker {
  public:
    RowMaker(const ForeignTable& table, const ImportColumns& columns, const Specification& specification,
             ImportedRows rows)
        : table_(table), columns_(columns), specification_(specification), rows_(std::move(rows)) {}

    /// @returns the last step @throws Error (usage) naming a row whose step is none or does not rise
    std::int64_t make() {
        table_.forEachRow(columns_.wanted(), [this](const ForeignTable::Row& row) { take(row); });
        finishEvaluation();
        if (metrics_step_ < 0 && !had_evaluation_)
            throw Error(ErrorKind::usage, table_.origin + ": no row has both a step and a number to import");
        return last_;
    }

  private:
    void take(const ForeignTable::Row& row) {
        ++number_;
        const auto value = columns_.of(row, "step");
        if (!value || !std::isfinite(*value)) return;  // a row of something else, such as a summary
        const std::string place = table_.origin + ": row " + std::to_string(number_);
        if (*value < 0 || *value > kMostSteps)
            throw Error(ErrorKind::usage, place + " has the step " + formatNumber(*value) +
                                              "; a step is a number from 0 to 1e9. Is it the right column?");
        const auto step = static_cast<std::int64_t>(std::llround(*value));
        if (step < last_)
            throw Error(ErrorKind::usage, place + " goes back to step " + std::to_string(step) + " after " +
                                              std::to_string(last_) +
                                              "; sort the rows, or import one run at a time");
        last_ = step;
        takeLoss(row, step);
        takeEvaluation(row, step);
    }

    void takeLoss(const ForeignTable::Row& row, std::int64_t step) {
        const auto loss = columns_.of(row, "loss");
        if (!loss || metrics_step_ >= step) return;
        metrics_step_ = step;
        MetricsRow made;
        made.step = step;
        made.time_s = columns_.of(row, "time_s").value_or(0);
        made.tokens =
            columns_.countOf(row, "tokens")
                .value_or(step * specification_.training.batch * (specification_.training.length - 1));
        made.loss = *loss;
        made.learning_rate = columns_.of(row, "learning_rate").value_or(0);
        rows_.metrics(made);
    }

    void takeEvaluation(const ForeignTable::Row& row, std::int64_t step) {
        const auto correct = columns_.countOf(row, "correct");
        const auto loss = columns_.of(row, "evaluation_loss");
        if (!correct && !loss) return;
        if (evaluation_ && evaluation_->step < step) finishEvaluation();
        if (!evaluation_) {
            evaluation_.emplace();
            evaluation_->step = step;
            evaluation_->time_s = columns_.of(row, "time_s").value_or(0);
        }
        if (loss) evaluation_->loss = loss;
        if (!correct) return;
        evaluation_->correct = correct;
        evaluation_->of = columns_.countOf(row, "of").value_or(specification_.evaluation.problems);
        if (*correct < 0 || *correct > *evaluation_->of)
            throw Error(ErrorKind::usage,
                        "at step " + std::to_string(step) + " " + std::to_string(*correct) + " of " +
                            std::to_string(*evaluation_->of) +
                            " problems are solved; name the column that counts all of them");
    }

    void finishEvaluation() {
        if (!evaluation_) return;
        rows_.evaluation(*evaluation_);
        evaluation_.reset();
        had_evaluation_ = true;
    }

    const ForeignTable& table_;
    const ImportColumns& columns_;
    const Specification& specification_;
    ImportedRows rows_;
    std::size_t number_ = 0;
    std::int64_t last_ = -1, metrics_step_ = -1;
    std::optional<EvaluationRow> evaluation_;
    bool had_evaluation_ = false;
};

/// Writes the rows. The status names no machine: how long an imported run took says nothing of this one.
void fillRun(const RunFolder& folder, const ForeignTable& table, const ImportColumns& columns,
             const Specification& specification) {
    std::int64_t last_step = 0;
    {
        RunRecorder recorder(folder);
        last_step = RowMaker(table, columns, specification,
                             {[&](const MetricsRow& row) { recorder.record(row); },
                              [&](const EvaluationRow& row) { recorder.record(row); }})
                        .make();
        recorder.log("imported");
    }
    Status status = folder.status();
    status.state = RunState::finished;
    status.step = status.steps = std::max<std::int64_t>(1, last_step);
    status.device = "imported";
    status.heartbeat = secondsSinceEpoch();
    writeStatus(folder.statusPath(), status);
}

}  // namespace

void ForeignTable::forEachRow(const std::vector<std::size_t>& wanted,
                              const std::function<void(const Row&)>& take) const {
    std::size_t number = 0;
    bool is_header = !is_json;
    Row row(wanted.size());
    lines([&](std::string_view line) {
        ++number;
        line = plainLine(line, number);
        if (trimmed(line).empty() || std::exchange(is_header, false)) return;
        if (is_json) {
            const nlohmann::json json = parseJson(line, origin, number);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const auto value = json.find(columns[wanted[i]]);
                const bool is_number = value != json.end() && value->is_number();
                row[i] = is_number ? std::optional(value->get<double>()) : std::nullopt;
            }
        } else {
            const std::vector<std::string> cells = cellsOf(line, separator);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                row[i] = wanted[i] < cells.size() ? numberIn(cells[wanted[i]]) : std::nullopt;
        }
        take(row);
    });
}

ForeignTable parseForeignTable(const std::string& text, const std::string& origin) {
    ForeignTable table;
    table.origin = origin;
    table.lines = [text](const std::function<void(std::string_view)>& take) {
        for (std::string_view rest = text; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            take(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    };
    TableReader(table).read();
    return table;
}

ForeignTable readForeignTable(const std::filesystem::path& named, const std::function<bool()>& goes_on) {
    ForeignTable table;
    table.origin = named.string();
    const FilePath path = FilePath::regular(named);
    if (fileSize(path) > kMostImportedBytes)  // a missing file is an error, not an empty one
        throw Error(ErrorKind::disk, table.origin + " holds more than " +
                                         bytesText(static_cast<double>(kMostImportedBytes)) +
                                         "; import a part of it, or every tenth row");
    table.lines = [path, goes_on](const std::function<void(std::string_view)>& take) {
        LineReader lines(path, LineReader::LastLine::whole);
        while (const auto line = lines.next()) {
            if (goes_on && !goes_on())
                throw Error(ErrorKind::other, "reading " + path.string() + " was cancelled");
            take(*line);
        }
    };
    TableReader(table).read();
    return table;
}

std::map<std::string, std::string> guessMapping(const ForeignTable& table) {
    static const std::map<std::string, std::vector<std::string>> common = {
        {"step", {"step", "globalstep", "steps", "iteration", "iter", "trainerglobalstep"}},
        {"loss", {"loss", "trainloss", "trainingloss", "losstrain"}},
        {"time_s", {"times", "time", "walltime", "seconds", "relativetime", "runtime"}},
        {"tokens", {"tokens", "tokensseen", "numtokens"}},
        {"correct", {"correct", "solved", "score", "evaluationcorrect"}},
        {"of", {"of", "problems", "total"}},
        {"evaluation_loss",
         {"evaluationloss", "evalloss", "valloss", "validloss", "validationloss", "lossvalid"}},
        {"learning_rate", {"learningrate", "lr", "traininglearningrate"}}};
    std::map<std::string, std::string> mapping;
    for (const auto& [field, names] : common)
        for (const std::string& name : names)
            for (const std::string& column : table.columns)
                if (mapping.count(field) == 0 && plain(column) == name) mapping[field] = column;
    return mapping;
}

RunFolder importRun(const std::filesystem::path& runs, const std::string& name, Specification specification,
                    const ForeignTable& table, const std::map<std::string, std::string>& mapping) {
    for (const auto& [field, column] : mapping)
        if (std::find(kImportFields.begin(), kImportFields.end(), field) == kImportFields.end())
            throw Error(ErrorKind::usage,
                        "there is no field \"" + field + "\"; known are " + join(kImportFields, ", "));
    const ImportColumns columns(table, mapping);
    if (!columns.has("step"))
        throw Error(ErrorKind::usage, "say which column of " + table.origin + " counts the steps");
    if (!columns.has("loss") && !columns.has("correct") && !columns.has("evaluation_loss"))
        throw Error(ErrorKind::usage, "say which column of " + table.origin +
                                          " is the loss, the problems solved or the loss of an evaluation");
    // Once without writing anything: what is wrong is found before there is a run.
    const ImportedRows nowhere{[](const MetricsRow&) {}, [](const EvaluationRow&) {}};
    const std::int64_t last_step = RowMaker(table, columns, specification, nowhere).make();
    specification.about.title = "imported from " + std::filesystem::path(table.origin).filename().string();
    specification.training.steps = std::max<std::int64_t>(1, last_step);
    specification.training.warmup_steps =
        std::min(specification.training.warmup_steps, specification.training.steps);
    const RunFolder folder = createRun(runs, name, specification);
    try {
        fillRun(folder, table, columns, specification);
    } catch (...) {
        std::error_code ignored;  // half a run is none
        std::filesystem::remove_all(folder.path(), ignored);
        throw;
    }
    return folder;
}

}  // namespace roper
