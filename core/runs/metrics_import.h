#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// Numbers of a file that another program wrote: CSV (comma, semicolon or tab) with a header, or one JSON
/// object a line. A cell that holds no number is empty. The numbers stay in the file, whatever its size, and
/// are read again where they are needed.
struct ForeignTable {
    using Row = std::vector<std::optional<double>>;
    /// Hands out the lines of the file, one after the other.
    using Lines = std::function<void(const std::function<void(std::string_view)>&)>;

    std::string origin;
    std::vector<std::string> columns;
    std::vector<Row> first_rows;  ///< one cell a column; a few, to be shown
    std::size_t row_count = 0;
    std::size_t unread = 0;  ///< cells that hold something but no number

    /// Reads all rows: of each the cells of these columns, in their order.
    void forEachRow(const std::vector<std::size_t>& wanted,
                    const std::function<void(const Row&)>& take) const;

    Lines lines;
    bool is_json = false;
    char separator = ',';
};

/// What a file to be imported may hold, in bytes: ten million rows or more.
inline constexpr std::uint64_t kMostImportedBytes = 1U << 30U;

/// Only regular files are read, since the rows are read again when they are imported.
/// @param goes_on  called for every line, also by `importRun`; when it says no, reading ends with an Error
/// (other). It may be empty.
/// @throws Error (usage) with origin:line of what cannot be read, Error (disk), also for a file that is too
/// large
ForeignTable readForeignTable(const std::filesystem::path& path, const std::function<bool()>& goes_on = {});
ForeignTable parseForeignTable(const std::string& text, const std::string& origin);

/// What of a run a column can be. `step` is needed, and `loss` or one of an evaluation.
inline const std::vector<std::string> kImportFields = {"step",    "loss", "time_s",          "tokens",
                                                       "correct", "of",   "evaluation_loss", "learning_rate"};

/// Field to column name. Columns are found by common names ("global_step", "train/loss", …).
std::map<std::string, std::string> guessMapping(const ForeignTable& table);

/// Makes a finished run of these numbers, to be compared with others. `specification` says what it is to be
/// taken for; its steps become those of the table.
/// @throws Error (usage) naming a column that is missing, a row whose step is none or does not rise
RunFolder importRun(const std::filesystem::path& runs, const std::string& name, Specification specification,
                    const ForeignTable& table, const std::map<std::string, std::string>& mapping);

}  // namespace roper
