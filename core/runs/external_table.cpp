#include "core/runs/external_table.h"

#include <fcntl.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/file_reading.h"
#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/runs/json_records.h"
#include "core/runs/tensorboard_events.h"

namespace roper {
namespace {

constexpr std::size_t kMaxColumns = 1000;
constexpr std::size_t kFirstRows = 20;
// Columns of every event, named as in TensorBoard's CSV.
constexpr auto kEventStepName = "Step";
constexpr auto kEventTimeName = "Wall time";
constexpr std::uint64_t kMaxEventFileBytes = 256U << 20U;  // event files are read as a whole

[[noreturn]] void refuseLine(const std::string& origin, std::size_t line, const std::string& what) {
    throw Error(ErrorKind::usage, origin + ":" + std::to_string(line) + ": " + what);
}

/// A line without the final '\r', and the first line without a byte order mark.
std::string_view plainLine(std::string_view line, std::size_t number) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    return line;
}

/// Cells of a line; separators within quotes are kept, and doubled quotes stand for one.
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

/// The most frequent separator in the header.
char separatorOf(std::string_view header) {
    char best = ',';
    for (const char separator : {',', ';', '\t'})
        if (std::ranges::count(header, separator) > std::ranges::count(header, best)) best = separator;
    return best;
}

/// The column for an event's tag; a prefix distinguishes it from the columns of step and time.
std::string columnOfTag(const std::string& tag) {
    return tag == kEventStepName || tag == kEventTimeName ? "scalar " + tag : tag;
}

/// Seconds of "0:01:30" or "1 day, 2:00:00", as Python formats a duration.
std::optional<double> durationIn(const std::string& text) {
    constexpr double kDay = 86400, kHour = 3600, kMinute = 60;
    double seconds = 0;
    std::string clock = text;
    if (const std::size_t comma = text.find(", "); comma != std::string::npos) {
        const std::size_t space = text.find(' ');
        const auto days = parseInteger(text.substr(0, space));
        const std::string unit = text.substr(space + 1, comma - space - 1);
        if (!days || (unit != "day" && unit != "days")) return std::nullopt;
        seconds = kDay * static_cast<double>(*days);
        clock = text.substr(comma + 2);
    }
    const std::vector<std::string> parts = split(clock, ':');
    if (parts.size() != 3) return std::nullopt;
    const auto hours = parseInteger(parts[0]), minutes = parseInteger(parts[1]);
    const auto rest = parseNumber(parts[2]);
    const bool is_clock = hours && minutes && rest && *hours >= 0 && *minutes >= 0 && *minutes < 60 &&
                          *rest >= 0 && *rest < kMinute;
    if (!is_clock) return std::nullopt;
    return seconds + kHour * static_cast<double>(*hours) + kMinute * static_cast<double>(*minutes) + *rest;
}

/// Parses a number, including nan and infinity as in Python and JavaScript.
std::optional<double> numberIn(const std::string& cell) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const std::string text = trimmed(cell);
    if (const auto number = parseNumber(text)) return number;
    const std::string lower = lowerCase(text);
    if (lower == "nan" || lower == "-nan") return std::numeric_limits<double>::quiet_NaN();
    if (lower == "inf" || lower == "+inf" || lower == "infinity" || lower == "+infinity") return kInfinity;
    if (lower == "-inf" || lower == "-infinity") return -kInfinity;
    return durationIn(text);
}

nlohmann::json parseObject(std::string_view line, const std::string& origin, std::size_t number) {
    nlohmann::json json;
    try {
        json = parseStrictJson(quoteNonFiniteNumbers(line));
    } catch (const std::invalid_argument& error) {
        refuseLine(origin, number, std::string("not JSON: ") + error.what());
    }
    if (!json.is_object()) refuseLine(origin, number, "a line must be one JSON object");
    return json;
}

/// The value as a number; a string may contain one.
std::optional<double> numberOf(const nlohmann::json& value) {
    if (value.is_number()) return value.get<double>();
    return value.is_string() ? numberIn(value.get_ref<const std::string&>()) : std::nullopt;
}

constexpr std::size_t kBeginning = 1U << 16U;  // bytes of a file that suffice to recognize its format

/// The format of a file with this beginning. If the first line is a complete JSON object, every line is one.
ExternalTable::Kind kindOf(std::string_view beginning) {
    using Kind = ExternalTable::Kind;
    if (isEventFile(beginning)) return Kind::events;
    const std::string_view text = plainLine(beginning, 1);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (text[first] != '[' && text[first] != '{')) return Kind::csv;
    if (text[first] == '[') return Kind::json_document;
    const std::size_t end = text.find('\n', first);
    JsonRecords records("", [](std::string_view, std::size_t) {});
    try {
        records.feed(text.substr(first, end == std::string_view::npos ? end : end - first));
    } catch (const Error&) {
        return Kind::json_lines;  // reading it reports the problem
    }
    const bool is_unfinished = records.isOpen() && end != std::string_view::npos;
    return records.hasArray() || is_unfinished ? Kind::json_document : Kind::json_lines;
}

/// Receives the content of a table in order: events, JSON objects, or the lines of a CSV.
struct TableVisitor {
    std::function<void(const ScalarEvent&)> event;
    std::function<void(std::string_view text, std::size_t line)> object;
    std::function<void(std::string_view line, std::size_t number)> header, cells;
};

void visitTable(const ExternalTable& table, const TableVisitor& visit) {
    using Kind = ExternalTable::Kind;
    if (table.kind == Kind::events) return table.events(visit.event);
    if (table.kind == Kind::json_document) {
        JsonRecords records(table.origin, visit.object);
        bool is_first = true;
        table.parts([&](std::string_view part) {
            records.feed(std::exchange(is_first, false) ? plainLine(part, 1) : part);
        });
        return records.finish();
    }
    std::size_t number = 0;
    bool is_first = true;
    table.lines([&](std::string_view line) {
        ++number;
        line = plainLine(line, number);
        if (trimmed(line).empty()) return;
        const bool is_header = std::exchange(is_first, false) && table.kind == Kind::csv;
        (table.kind == Kind::json_lines ? visit.object
         : is_header                    ? visit.header
                                        : visit.cells)(line, number);
    });
    if (is_first) throw Error(ErrorKind::usage, table.origin + " is empty");
}

/// Reads a file of another program from beginning to end.
class TableReader {
  public:
    explicit TableReader(ExternalTable& table) : table_(table) {}

    void read() {
        visitTable(table_, {[this](const ScalarEvent& event) { readEvent(event); },
                            [this](std::string_view text, std::size_t line) { readObject(text, line); },
                            [this](std::string_view line, std::size_t number) { readHeader(line, number); },
                            [this](std::string_view line, std::size_t number) { readCells(line, number); }});
        if (table_.row_count == 0)
            throw Error(ErrorKind::usage,
                        table_.origin + (table_.kind == ExternalTable::Kind::csv ? " has a header but no rows"
                                         : table_.kind == ExternalTable::Kind::events
                                             ? " has no scalars"
                                             : " has no rows: none of its JSON objects is a row of metrics"));
        finish();
    }

  private:
    void readEvent(const ScalarEvent& event) {
        ++table_.row_count;
        ExternalTable::Row row(table_.columns.size());
        put(row, kEventStepName, static_cast<double>(event.step), table_.row_count);
        if (event.wall_time > 0) put(row, kEventTimeName, event.wall_time, table_.row_count);
        for (const auto& [tag, value] : event.scalars)
            put(row, columnOfTag(tag), value, table_.row_count);
        keep(std::move(row));
    }

    void readHeader(std::string_view line, std::size_t number) {
        if (line.find('\0') != std::string_view::npos)
            throw Error(
                ErrorKind::usage,
                table_.origin + " is not UTF-8 (maybe UTF-16, as spreadsheets write it): save it as UTF-8");
        table_.separator = separatorOf(line);
        for (const std::string& name : cellsOf(line, table_.separator)) {
            const auto& columns = table_.columns;
            if (hasElement(columns, trimmed(name)) && !trimmed(name).empty())
                refuseLine(table_.origin, number, "two columns are called \"" + trimmed(name) + "\"");
            addColumn(trimmed(name));
        }
    }

    void addColumn(const std::string& name) {
        table_.columns.push_back(name);
        table_.number_counts.push_back(0);
        table_.non_numeric_in.emplace_back();
    }

    void readCells(std::string_view line, std::size_t number) {
        const std::vector<std::string> cells = cellsOf(line, table_.separator);
        if (cells.size() != table_.columns.size())
            refuseLine(table_.origin, number,
                       "the row has " + std::to_string(cells.size()) + " columns, the header " +
                           std::to_string(table_.columns.size()));
        ++table_.row_count;
        ExternalTable::Row row;
        for (const std::string& cell : cells) {
            const std::size_t column = row.size();
            row.push_back(numberIn(cell));
            if (row.back())
                ++table_.number_counts[column];
            else if (!trimmed(cell).empty())
                noteNonNumeric(table_.non_numeric_in[column], trimmed(cell), number);
        }
        keep(std::move(row));
    }

    void readObject(std::string_view text, std::size_t number) {
        const nlohmann::json json = parseObject(text, table_.origin, number);
        ++table_.row_count;
        ExternalTable::Row row(table_.columns.size());
        for (const auto& [key, value] : json.items()) {
            const auto cell = numberOf(value);
            if (cell || value.is_null())
                put(row, key, cell, number);
            else
                noteNonNumeric(nonNumericOf(key, number), value.dump(), number);
        }
        keep(std::move(row));
    }

    static void noteNonNumeric(ExternalTable::NonNumericCells& non_numeric, const std::string& what,
                               std::size_t at) {
        constexpr std::size_t kShownBytes = 40;
        if (non_numeric.count++ > 0) return;
        non_numeric.first = at;
        non_numeric.example = truncateText(what, kShownBytes);
    }

    ExternalTable::NonNumericCells& nonNumericOf(const std::string& key, std::size_t at) {
        if (const auto column = column_of_key_.find(key); column != column_of_key_.end())
            return table_.non_numeric_in[column->second];
        if (texts_.count(key) == 0) requireKeyLimit(at);
        return texts_[key];
    }

    void requireKeyLimit(std::size_t at) const {
        if (column_of_key_.size() + texts_.size() >= kMaxColumns)
            throw Error(ErrorKind::usage, table_.locationOf(at) + ": more than " +
                                              std::to_string(kMaxColumns) + " different keys");
    }

    void put(ExternalTable::Row& row, const std::string& key, std::optional<double> value, std::size_t at) {
        auto column = column_of_key_.find(key);
        if (column == column_of_key_.end()) {
            const auto was_text = texts_.find(key);
            if (was_text == texts_.end()) requireKeyLimit(at);
            column = column_of_key_.emplace(key, table_.columns.size()).first;
            addColumn(key);
            row.emplace_back();
            if (was_text != texts_.end()) {
                table_.non_numeric_in.back() = was_text->second;
                texts_.erase(was_text);
            }
        }
        if (!value) return;
        row[column->second] = value;
        ++table_.number_counts[column->second];
    }

    void keep(ExternalTable::Row row) {
        if (table_.first_rows.size() < kFirstRows) table_.first_rows.push_back(std::move(row));
    }

    void finish() {
        for (ExternalTable::Row& row : table_.first_rows)
            row.resize(table_.columns.size());
        for (const auto& [key, non_numeric] : texts_)
            table_.texts.push_back(key);
        for (std::size_t column = 0; column < table_.columns.size(); ++column)
            if (table_.number_counts[column] > 0) table_.non_numeric += table_.non_numeric_in[column].count;
    }

    ExternalTable& table_;
    std::map<std::string, std::size_t> column_of_key_;
    /// by key, of the keys that have not held a number so far
    std::map<std::string, ExternalTable::NonNumericCells> texts_;
};

/// The event files of a folder, sorted by name: their names begin with the time at which they were opened.
std::vector<FilePath> eventFilesIn(const std::filesystem::path& folder) {
    std::vector<FilePath> files;
    std::vector<std::string> inside;
    for (const std::string& name : listFolder(FilePath(folder))) {
        std::error_code unreadable;
        if (name.find("tfevents") != std::string::npos)
            files.push_back(FilePath::regular(folder / name));
        else if (std::filesystem::is_directory(folder / name, unreadable))
            inside.push_back(name);
    }
    if (!files.empty()) return files;
    throw Error(ErrorKind::usage,
                folder.string() + " is a folder without TensorBoard's events (events.out.tfevents…)" +
                    (inside.empty() ? "; name a file"
                                    : "; name a file, or one of the folders in it: " + join(inside, ", ")));
}

void throwIfCancelled(const std::function<bool()>& should_continue, const std::string& path) {
    if (should_continue && !should_continue())
        throw Error(ErrorKind::other, "reading " + path + " was cancelled");
}

/// Events of several files, one file after another.
ExternalTable::Events eventsOf(const std::vector<FilePath>& files,
                               const std::function<bool()>& should_continue,
                               const std::shared_ptr<std::map<std::string, std::size_t>>& damaged) {
    return [files, should_continue, damaged](const std::function<void(const ScalarEvent&)>& visit) {
        for (const FilePath& path : files) {
            const auto at = forEachEvent(readFile(path, kMaxEventFileBytes), [&](const ScalarEvent& event) {
                throwIfCancelled(should_continue, path.string());
                visit(event);
            });
            if (at) (*damaged)[path.string()] = *at;
        }
    };
}

void readEventFiles(ExternalTable& table, const std::vector<FilePath>& files,
                    const std::function<bool()>& should_continue) {
    const auto damaged = std::make_shared<std::map<std::string, std::size_t>>();
    table.kind = ExternalTable::Kind::events;
    table.events = eventsOf(files, should_continue, damaged);
    TableReader(table).read();
    for (const auto& [path, at] : *damaged)
        table.notes.push_back(path + " is damaged at byte " + std::to_string(at) +
                              "; the readable part is imported, the rest is missing");
}

std::string beginningOfFile(const FilePath& path) {
    std::string beginning(kBeginning, '\0');
    const Descriptor file = openFile(path, O_RDONLY | O_CLOEXEC);
    beginning.resize(readAt(file, beginning, 0, path.string()));
    return beginning;
}

}  // namespace

std::string ExternalTable::locationOf(std::size_t at) const {
    return kind == Kind::events ? origin : origin + ":" + std::to_string(at);
}

void ExternalTable::forEachRow(const std::vector<std::size_t>& requested,
                               const std::function<void(const Row&, std::size_t)>& visit) const {
    Row row(requested.size());
    std::size_t events_before = 0;
    std::map<std::string_view, std::vector<std::size_t>> cells_of;
    for (std::size_t i = 0; i < requested.size(); ++i)
        cells_of[columns[requested[i]]].push_back(i);
    const auto put = [&](std::string_view name, double value) {
        if (const auto found = cells_of.find(name); found != cells_of.end())
            for (const std::size_t cell : found->second)
                row[cell] = value;
    };
    const auto visit_event = [&](const ScalarEvent& event) {
        std::ranges::fill(row, std::nullopt);
        put(kEventStepName, static_cast<double>(event.step));
        if (event.wall_time > 0) put(kEventTimeName, event.wall_time);
        for (const auto& [tag, value] : event.scalars)
            put(columnOfTag(tag), value);
        visit(row, ++events_before);
    };
    const auto visit_object = [&](std::string_view text, std::size_t line) {
        const nlohmann::json json = parseObject(text, origin, line);
        for (std::size_t i = 0; i < requested.size(); ++i) {
            const auto value = json.find(columns[requested[i]]);
            row[i] = value == json.end() ? std::nullopt : numberOf(*value);
        }
        visit(row, line);
    };
    const auto visit_cells = [&](std::string_view line, std::size_t number) {
        const std::vector<std::string> cells = cellsOf(line, separator);
        for (std::size_t i = 0; i < requested.size(); ++i)
            row[i] = requested[i] < cells.size() ? numberIn(cells[requested[i]]) : std::nullopt;
        visit(row, number);
    };
    visitTable(*this, {visit_event, visit_object, [](std::string_view, std::size_t) {}, visit_cells});
}

ExternalTable parseExternalTable(const std::string& text, const std::string& origin) {
    ExternalTable table;
    table.origin = origin;
    table.lines = [text](const std::function<void(std::string_view)>& visit) {
        for (std::string_view rest = text; !rest.empty();) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            visit(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    };
    table.parts = [text](const std::function<void(std::string_view)>& visit) { visit(text); };
    table.events = [text](const std::function<void(const ScalarEvent&)>& visit) {
        forEachEvent(text, visit);
    };
    table.kind = kindOf(std::string_view(text).substr(0, kBeginning));
    TableReader(table).read();
    return table;
}

ExternalTable readExternalTable(const std::filesystem::path& named,
                                const std::function<bool()>& should_continue) {
    ExternalTable table;
    table.origin = named.string();
    std::error_code unreadable;
    if (std::filesystem::is_directory(named, unreadable)) {
        readEventFiles(table, eventFilesIn(named), should_continue);
        return table;
    }
    const FilePath path = FilePath::regular(named);
    if (fileSize(path) > kMaxImportedBytes)  // a missing file is an error here
        throw Error(ErrorKind::disk, table.origin + " is larger than " +
                                         formatBytes(static_cast<double>(kMaxImportedBytes)) +
                                         "; import a part of it, or every tenth row");
    table.kind = kindOf(beginningOfFile(path));
    if (table.kind == ExternalTable::Kind::events) {
        readEventFiles(table, {path}, should_continue);
        return table;
    }
    table.parts = [path, should_continue](const std::function<void(std::string_view)>& visit) {
        forEachPart(path, [&](std::string_view part) {
            throwIfCancelled(should_continue, path.string());
            visit(part);
        });
    };
    table.lines = [path, should_continue](const std::function<void(std::string_view)>& visit) {
        LineReader lines(path, LineReader::LastLine::whole);
        while (const auto line = lines.next()) {
            throwIfCancelled(should_continue, path.string());
            visit(*line);
        }
    };
    TableReader(table).read();
    return table;
}

}  // namespace roper
