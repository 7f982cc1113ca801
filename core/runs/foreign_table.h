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

/// Numbers of a file that another program wrote: CSV (comma, semicolon or tab) with a header, one JSON object
/// a line, a JSON array of objects, the trainer_state.json of Hugging Face's Trainer, or TensorBoard's
/// events. A cell that holds no number is empty. The numbers stay in the file, whatever its size, and are
/// read again where they are needed.
struct ForeignTable {
    using Row = std::vector<std::optional<double>>;
    /// Hands out the lines of the file, or its events, one after the other.
    using Lines = std::function<void(const std::function<void(std::string_view)>&)>;
    using Events = std::function<void(const std::function<void(const ScalarEvent&)>&)>;
    enum class Kind { csv, json_lines, json_document, events };

    /// Cells that hold something, but no number.
    struct Unread {
        std::size_t count = 0;
        std::size_t first = 0;  ///< where the first of them stands, for `place`
        std::string example;    ///< what it holds
    };

    std::string origin;
    std::vector<std::string> columns;
    std::vector<std::size_t> filled;  ///< numbers in each column
    std::vector<Unread> unread_in;    ///< by column
    std::vector<std::string> texts;   ///< keys of JSON objects that never hold a number, and are no columns
    std::vector<Row> first_rows;      ///< one cell a column; a few, to be shown
    std::size_t row_count = 0;
    std::size_t unread = 0;          ///< cells without a number in columns that hold some elsewhere
    std::vector<std::string> notes;  ///< what of the file could not be read

    /// Reads all rows: of each the cells of these columns, in their order, and where it stands.
    void forEachRow(const std::vector<std::size_t>& wanted,
                    const std::function<void(const Row&, std::size_t at)>& take) const;

    /// "metrics.csv:12"; of events only the file.
    std::string place(std::size_t at) const;

    Lines lines;
    Lines parts;  ///< the same text in parts of any length
    Events events;
    Kind kind = Kind::csv;
    char separator = ',';
};

/// What a file to be imported may hold, in bytes: ten million rows or more.
inline constexpr std::uint64_t kMostImportedBytes = 1U << 30U;

/// Only regular files are read, since the rows are read again when they are imported, and folders with event
/// files of one run.
/// @param goes_on  called for every line, also by `importRun`; when it says no, reading ends with an Error
/// (other). It may be empty.
/// @throws Error (usage) with origin:line of what cannot be read, Error (disk), also for a file that is too
/// large
ForeignTable readForeignTable(const std::filesystem::path& path, const std::function<bool()>& goes_on = {});
ForeignTable parseForeignTable(const std::string& text, const std::string& origin);

}  // namespace roper
