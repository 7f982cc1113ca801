#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/external_table.h"

namespace roper {

/// The numeric fields of `kImportFields`, as indices into `StepValues`.
enum class ImportField {
    loss,
    time_s,
    tokens,
    tokens_per_s,
    correct,
    of,  ///< number of problems, `correct` of which are solved
    evaluation_loss,
    learning_rate,
    grad_norm
};
inline constexpr std::size_t kImportFieldCount = 9;
struct StepValues : std::array<std::optional<double>, kImportFieldCount> {
    std::optional<double>& operator[](ImportField field) { return at(static_cast<std::size_t>(field)); }
    const std::optional<double>& operator[](ImportField field) const {
        return at(static_cast<std::size_t>(field));
    }
};

/// The values of a step in one row of a table.
struct StepRow {
    std::int64_t step = 0;
    StepValues values;
    std::size_t at = 0;  ///< line or event, for `ExternalTable::locationOf`
};

/// Skipped rows of a table, by reason.
struct SkippedRows {
    std::size_t without_step = 0, without_numbers = 0;
};

/// The mapping of a table's columns to fields of a run.
class ImportColumns {
  public:
    /// @param mapping  field to column name
    /// @throws Error (usage) for an unknown field, a missing column, or too few columns
    ImportColumns(const ExternalTable& table, const std::map<std::string, std::string>& mapping);

    /// Calls `visit` with all rows that have a step and a number. @throws Error (usage) naming a cell with an
    /// invalid value
    SkippedRows forEachStep(const std::function<void(const StepRow&)>& visit) const;

    bool has(ImportField field) const;
    /// The name of its column; empty if it has none.
    const std::string& columnOf(ImportField field) const;

    /// "columns: step is "it", …": the mapping.
    std::string text() const;
    /// Messages about unused columns and about cells without a number.
    std::vector<std::string> notes() const;

  private:
    std::int64_t stepOf(double value, std::size_t at) const;
    double requireInteger(ImportField field, double value, std::size_t at) const;
    std::string missingLossNote() const;

    const ExternalTable& table_;
    std::map<std::string, std::string> names_;    ///< of columns, by field
    std::vector<std::size_t> requested_columns_;  ///< indices, beginning with the column of the step
    std::vector<ImportField> fields_;             ///< of the other requested columns
};

/// "loss": as in `kImportFields`.
const std::string& nameOf(ImportField field);

}  // namespace roper
