#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

struct ScalarEvent;

/// A table of numbers in a file of another program: CSV (comma, semicolon or tab) with a header, one JSON
/// object per line, a JSON array of objects, the trainer_state.json of Hugging Face's Trainer, or TensorBoard
/// events. Cells without a number are empty. The numbers are not kept in memory, but read from the file again
/// when needed.
struct ExternalTable {
    using Row = std::vector<std::optional<double>>;
    /// Calls a function with the lines of the file, or its events, in order.
    using Lines = std::function<void(const std::function<void(std::string_view)>&)>;
    using Events = std::function<void(const std::function<void(const ScalarEvent&)>&)>;
    enum class Kind { csv, json_lines, json_document, events };

    /// Non-empty cells without a number.
    struct NonNumericCells {
        std::size_t count = 0;
        std::size_t first = 0;  ///< line of the first of them, for `locationOf`
        std::string example;    ///< content of the first of them
    };

    std::string origin;  ///< path, for messages
    std::vector<std::string> columns;
    std::vector<std::size_t> number_counts;       ///< count of numbers in each column
    std::vector<NonNumericCells> non_numeric_in;  ///< by column
    std::vector<std::string> texts;  ///< keys of JSON objects that never hold a number; these are not columns
    std::vector<Row> first_rows;     ///< one cell per column; a few rows for display
    std::size_t row_count = 0;
    std::size_t non_numeric = 0;  ///< number of cells without a number in columns that have numbers elsewhere
    std::vector<std::string> notes;  ///< what could not be read from the file

    /// Reads all rows. `visit` receives the cells of the requested columns (indices), in that order, and the
    /// number of the row's line or event, from 1.
    void forEachRow(const std::vector<std::size_t>& requested,
                    const std::function<void(const Row&, std::size_t at)>& visit) const;

    /// "metrics.csv:12"; for events only the file.
    std::string locationOf(std::size_t at) const;

    Lines lines;
    Lines parts;  ///< the same text in chunks of any length
    Events events;
    Kind kind = Kind::csv;
    char separator = ',';
};

/// Maximal size of an imported file in bytes: ten million rows or more.
inline constexpr std::uint64_t kMaxImportedBytes = 1U << 30U;

/// Reads a regular file (not a pipe, since importing reads it again) or a folder with event files of one run.
/// @param should_continue  called for every line, also by `importRun`; returning false cancels reading with
/// an Error (other). May be empty.
/// @throws Error (usage) with origin:line of malformed content, Error (disk), also for a file that is too
/// large
ExternalTable readExternalTable(const std::filesystem::path& path,
                                const std::function<bool()>& should_continue = {});
/// The same from memory.
/// @param origin  name of the text in messages
ExternalTable parseExternalTable(const std::string& text, const std::string& origin);

}  // namespace roper
