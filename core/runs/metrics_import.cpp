#include "core/runs/metrics_import.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/text.h"
#include "core/runs/run_recorder.h"

namespace roper {
namespace {

constexpr std::size_t kLargestFile = 128U << 20U;
constexpr std::size_t kMostColumns = 1000;
constexpr double kMostSteps = 1e9;

[[noreturn]] void refuse(const std::string& origin, std::size_t line, const std::string& what) {
    throw Error(ErrorKind::usage, origin + ":" + std::to_string(line) + ": " + what);
}

std::vector<std::string> linesOf(std::string_view text) {
    std::vector<std::string> lines = split(text, '\n');
    for (std::string& line : lines)
        if (line.ends_with('\r')) line.pop_back();
    while (!lines.empty() && trimmed(lines.back()).empty())
        lines.pop_back();
    if (!lines.empty() && lines.front().starts_with("\xef\xbb\xbf")) lines.front().erase(0, 3);
    return lines;
}

/// Cells of a line; quotes keep a separator, and two of them stand for one.
std::vector<std::string> cellsOf(const std::string& line, char separator) {
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
char separatorOf(const std::string& header) {
    char best = ',';
    for (const char separator : {',', ';', '\t'})
        if (std::count(header.begin(), header.end(), separator) >
            std::count(header.begin(), header.end(), best))
            best = separator;
    return best;
}

std::optional<double> numberOf(const std::string& cell) {
    const std::string text = trimmed(cell);
    if (text == "NaN" || text == "NAN") return std::numeric_limits<double>::quiet_NaN();
    return parseNumber(text);
}

ForeignTable parseCsv(const std::vector<std::string>& lines, const std::string& origin) {
    ForeignTable table{origin, {}, {}, 0};
    const char separator = separatorOf(lines.front());
    for (const std::string& name : cellsOf(lines.front(), separator))
        table.columns.push_back(trimmed(name));
    for (std::size_t i = 1; i < lines.size(); ++i) {
        if (trimmed(lines[i]).empty()) continue;
        const std::vector<std::string> cells = cellsOf(lines[i], separator);
        if (cells.size() != table.columns.size())
            refuse(origin, i + 1,
                   "the row has " + std::to_string(cells.size()) + " columns, the header " +
                       std::to_string(table.columns.size()));
        auto& row = table.rows.emplace_back();
        for (const std::string& cell : cells) {
            row.push_back(numberOf(cell));
            if (!row.back() && !trimmed(cell).empty()) ++table.unread;
        }
    }
    return table;
}

/// Python writes NaN and Infinity, which are no JSON; such cells are empty.
std::string withoutNotANumber(std::string line) {
    for (const std::string word : {"-Infinity", "Infinity", "NaN"})
        for (std::size_t at = line.find(word); at != std::string::npos; at = line.find(word, at)) {
            const bool is_value = at > 0 && (line[at - 1] == ' ' || line[at - 1] == ':');
            if (is_value) line.replace(at, word.size(), "null");
            at += 1;
        }
    return line;
}

ForeignTable parseJsonLines(const std::vector<std::string>& lines, const std::string& origin) {
    ForeignTable table{origin, {}, {}, 0};
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (trimmed(lines[i]).empty()) continue;
        nlohmann::json json;
        try {
            json = nlohmann::json::parse(withoutNotANumber(lines[i]));
        } catch (const nlohmann::json::exception& error) {
            refuse(origin, i + 1, std::string("not JSON: ") + error.what());
        }
        if (!json.is_object()) refuse(origin, i + 1, "a line must be one JSON object");
        auto& row = table.rows.emplace_back(table.columns.size());
        for (const auto& [key, value] : json.items()) {
            if (!value.is_number() && !value.is_null()) continue;
            const auto [at, is_new] = place.emplace(key, table.columns.size());
            if (is_new && table.columns.size() == kMostColumns)
                refuse(origin, i + 1, "more than " + std::to_string(kMostColumns) + " different keys");
            if (is_new) {
                table.columns.push_back(key);
                row.emplace_back();
            }
            if (value.is_number()) row[at->second] = value.get<double>();
        }
    }
    for (auto& row : table.rows)
        row.resize(table.columns.size());
    return table;
}

/// "Train/Loss" and "train_loss" are the same name.
std::string plain(const std::string& name) {
    std::string text;
    for (const char c : name)
        if (std::isalnum(static_cast<unsigned char>(c)))
            text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// One field of a table's rows, empty where it is not mapped.
class ImportColumn {
  public:
    ImportColumn(const ForeignTable& table, const std::map<std::string, std::string>& mapping,
                 const std::string& field) {
        const auto mapped = mapping.find(field);
        if (mapped == mapping.end() || mapped->second.empty()) return;
        const auto found = std::find(table.columns.begin(), table.columns.end(), mapped->second);
        if (found == table.columns.end())
            throw Error(ErrorKind::usage, table.origin + " has no column \"" + mapped->second + "\" for " +
                                              field + "; it has " + join(table.columns, ", "));
        index_ = static_cast<std::size_t>(found - table.columns.begin());
    }

    bool isMapped() const { return index_.has_value(); }
    std::optional<double> of(const std::vector<std::optional<double>>& row) const {
        return index_ ? row[*index_] : std::nullopt;
    }
    std::optional<std::int64_t> countOf(const std::vector<std::optional<double>>& row) const {
        const auto value = of(row);
        constexpr double kMost = 1e15;
        return value && std::abs(*value) < kMost
                   ? std::optional(static_cast<std::int64_t>(std::llround(*value)))
                   : std::nullopt;
    }

  private:
    std::optional<std::size_t> index_;
};

struct ImportColumns {
    ImportColumn step, loss, time, tokens, correct, of, evaluation_loss, learning_rate;
};

struct ImportedRows {
    std::vector<MetricsRow> metrics;
    std::vector<EvaluationRow> evaluations;
    std::int64_t last_step = 0;
};

/// Programs write several rows of one step, each with some of the numbers: those of an evaluation are joined,
/// of losses the first counts.
void addRow(const std::vector<std::optional<double>>& row, std::int64_t step, const ImportColumns& columns,
            const Specification& specification, ImportedRows& rows) {
    const double seconds = columns.time.of(row).value_or(0);
    const auto loss = columns.loss.of(row);
    if (loss && (rows.metrics.empty() || rows.metrics.back().step < step)) {
        MetricsRow made;
        made.step = step;
        made.time_s = seconds;
        made.tokens = columns.tokens.countOf(row).value_or(step * specification.training.batch *
                                                           (specification.training.length - 1));
        made.loss = *loss;
        made.learning_rate = columns.learning_rate.of(row).value_or(0);
        rows.metrics.push_back(made);
    }
    const auto correct = columns.correct.countOf(row);
    const auto evaluation_loss = columns.evaluation_loss.of(row);
    if (!correct && !evaluation_loss) return;
    if (rows.evaluations.empty() || rows.evaluations.back().step < step) {
        EvaluationRow made;
        made.step = step;
        made.time_s = seconds;
        rows.evaluations.push_back(made);
    }
    EvaluationRow& evaluation = rows.evaluations.back();
    if (correct) {
        evaluation.correct = correct;
        evaluation.of = columns.of.countOf(row).value_or(specification.evaluation.problems);
        if (*correct < 0 || *correct > *evaluation.of)
            throw Error(ErrorKind::usage,
                        "at step " + std::to_string(step) + " " + std::to_string(*correct) + " of " +
                            std::to_string(*evaluation.of) +
                            " problems are solved; name the column that counts all of them");
    }
    if (evaluation_loss) evaluation.loss = evaluation_loss;
}

ImportedRows readRows(const ForeignTable& table, const ImportColumns& columns,
                      const Specification& specification) {
    ImportedRows rows;
    std::int64_t last = -1;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto value = columns.step.of(table.rows[i]);
        if (!value || !std::isfinite(*value)) continue;  // a row of something else, such as a summary
        const std::string place = table.origin + ": row " + std::to_string(i + 1);
        if (*value < 0 || *value > kMostSteps)
            throw Error(ErrorKind::usage, place + " has the step " + formatNumber(*value) +
                                              "; a step is a number from 0 to 1e9. Is it the right column?");
        const auto step = static_cast<std::int64_t>(std::llround(*value));
        if (step < last)
            throw Error(ErrorKind::usage, place + " goes back to step " + std::to_string(step) + " after " +
                                              std::to_string(last) +
                                              "; sort the rows, or import one run at a time");
        addRow(table.rows[i], step, columns, specification, rows);
        last = step;
    }
    if (rows.metrics.empty() && rows.evaluations.empty())
        throw Error(ErrorKind::usage, table.origin + ": no row has both a step and a number to import");
    rows.last_step = last;
    return rows;
}

/// Writes the rows. The status names no machine: how long an imported run took says nothing of this one.
void fillRun(const RunFolder& folder, const ImportedRows& rows) {
    {
        RunRecorder recorder(folder);
        for (const MetricsRow& row : rows.metrics)
            recorder.record(row);
        for (const EvaluationRow& row : rows.evaluations)
            recorder.record(row);
        recorder.log("imported");
    }
    Status status = folder.status();
    status.state = RunState::finished;
    status.step = status.steps = std::max<std::int64_t>(1, rows.last_step);
    status.device = "imported";
    status.heartbeat = secondsSinceEpoch();
    writeStatus(folder.statusPath(), status);
}

}  // namespace

ForeignTable parseForeignTable(std::string_view text, const std::string& origin) {
    const std::vector<std::string> lines = linesOf(text);
    if (lines.empty()) throw Error(ErrorKind::usage, origin + " is empty");
    ForeignTable table =
        trimmed(lines.front()).starts_with('{') ? parseJsonLines(lines, origin) : parseCsv(lines, origin);
    if (table.rows.empty()) throw Error(ErrorKind::usage, origin + " has a header but no rows");
    return table;
}

ForeignTable readForeignTable(const std::filesystem::path& path) {
    std::error_code unknown;
    if (std::filesystem::file_size(path, unknown) > kLargestFile && !unknown)
        throw Error(ErrorKind::usage, path.string() + " is larger than 128 MB; import a thinned copy");
    return parseForeignTable(readFile(path), path.string());
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
    const auto column = [&](const char* field) { return ImportColumn(table, mapping, field); };
    const ImportColumn step = column("step"), loss = column("loss"), time = column("time_s"),
                       tokens = column("tokens"), correct = column("correct"), of = column("of"),
                       evaluation_loss = column("evaluation_loss"), learning_rate = column("learning_rate");
    if (!step.isMapped())
        throw Error(ErrorKind::usage, "say which column of " + table.origin + " counts the steps");
    if (!loss.isMapped() && !correct.isMapped() && !evaluation_loss.isMapped())
        throw Error(ErrorKind::usage, "say which column of " + table.origin +
                                          " is the loss, the problems solved or the loss of an evaluation");
    const ImportedRows rows = readRows(
        table, {step, loss, time, tokens, correct, of, evaluation_loss, learning_rate}, specification);
    specification.about.title = "imported from " + std::filesystem::path(table.origin).filename().string();
    specification.training.steps = std::max<std::int64_t>(1, rows.last_step);
    specification.training.warmup_steps =
        std::min(specification.training.warmup_steps, specification.training.steps);
    const RunFolder folder = createRun(runs, name, specification);
    try {
        fillRun(folder, rows);
    } catch (...) {
        std::error_code ignored;  // half a run is none
        std::filesystem::remove_all(folder.path(), ignored);
        throw;
    }
    return folder;
}

}  // namespace roper
