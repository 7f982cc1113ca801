#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/runs/external_table.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Fields to which a column can be mapped. `step` is required, and so is one of `loss`, `correct` (problems
/// solved, out of `of`) and `evaluation_loss`.
inline const std::vector<std::string> kImportFields = {
    "step",    "loss", "time_s",          "tokens",        "tokens_per_s",
    "correct", "of",   "evaluation_loss", "learning_rate", "grad_norm"};

/// The likely mapping of fields to column names. Columns are recognized by the usual names in trainers and
/// trackers ("global_step", "train/loss", "gull-7 - train/loss" of a W&B run, …); a field is left out if two
/// columns match equally well.
std::map<std::string, std::string> guessMapping(const ExternalTable& table);

struct ImportedRun {
    RunFolder folder;
    std::string columns;  ///< "columns: step is …": the mapping used
    std::string known;    ///< "known settings: training.steps; the others are unknown"
    /// Notes for the user: what was omitted and why, and what was interpreted.
    std::vector<std::string> notes;
};

/// Creates a finished run from these numbers, for comparison with others; its log also contains the notes.
/// Numbers of one step are merged across rows. If the steps go back, as in the log of a resumed run, later
/// rows replace earlier ones.
/// @param specification  assumed for the run. Its `about.known` names the known settings; the others are
/// discarded, and `training.steps` comes from the table. If neither model.position nor about.method is known,
/// the method is `kUnknownMethod`.
/// @throws Error (usage) naming a missing column, or a cell with an invalid value
ImportedRun importRun(const std::filesystem::path& runs, const std::string& name, Specification specification,
                      const ExternalTable& table, const std::map<std::string, std::string>& mapping);

}  // namespace roper
