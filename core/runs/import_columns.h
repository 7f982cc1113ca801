#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runs/foreign_table.h"

namespace roper {

/// The fields of `kImportFields` that are numbers of a step, as places in `StepValues`.
enum class ImportField {
    loss,
    time_s,
    tokens,
    tokens_per_s,
    correct,
    of,
    evaluation_loss,
    learning_rate,
    grad_norm
};
inline constexpr std::size_t kImportFieldCount = 9;
using StepValues = std::array<std::optional<double>, kImportFieldCount>;

/// What a row of a table says of a step.
struct StepRow {
    std::int64_t step = 0;
    StepValues values;
    std::size_t at = 0;  ///< where it stands, for `ForeignTable::place`

    std::optional<double>& operator[](ImportField field) { return values[static_cast<std::size_t>(field)]; }
    const std::optional<double>& operator[](ImportField field) const {
        return values[static_cast<std::size_t>(field)];
    }
};

/// Rows of a table that say nothing of any step, by reason.
struct PassedOver {
    std::size_t without_step = 0, without_numbers = 0;
};

/// The columns of a table that fields of a run are taken from.
class ImportColumns {
  public:
    /// @throws Error (usage) for a field that there is not, a column that is missing, or too few of them
    ImportColumns(const ForeignTable& table, const std::map<std::string, std::string>& mapping);

    /// Hands out the rows that have a step and a number. @throws Error (usage) naming a cell that cannot be
    /// what it is taken for
    PassedOver forEachStep(const std::function<void(const StepRow&)>& take) const;

    bool has(ImportField field) const;
    /// The name of its column; empty if it has none.
    const std::string& columnOf(ImportField field) const;

    /// "columns: step is "it", …": which is taken for what.
    std::string text() const;
    /// Which columns are not taken at all, and cells that hold no number.
    std::vector<std::string> notes() const;

  private:
    std::int64_t stepOf(double value, std::size_t at) const;
    double wholeOf(ImportField field, double value, std::size_t at) const;
    std::string noLossNote() const;

    const ForeignTable& table_;
    std::map<std::string, std::string> names_;  ///< of columns, by field
    std::vector<std::size_t> wanted_;           ///< first the step's
    std::vector<ImportField> fields_;           ///< of the others
};

/// "loss": as in `kImportFields`.
const std::string& nameOf(ImportField field);

/// Columns that may be a training loss, for a person to choose from.
std::vector<std::string> possibleLosses(const ForeignTable& table);

}  // namespace roper
