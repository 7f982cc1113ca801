#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/runs/foreign_table.h"
#include "core/runs/run_folder.h"

namespace roper {

/// What of a run a column can be. `step` is needed, and `loss` or one of an evaluation.
inline const std::vector<std::string> kImportFields = {
    "step",    "loss", "time_s",          "tokens",        "tokens_per_s",
    "correct", "of",   "evaluation_loss", "learning_rate", "grad_norm"};

/// Field to column name. Columns are found by the names that trainers and trackers give them ("global_step",
/// "train/loss", "gull-7 - train/loss" of a run of W&B, …); one is left out where two fit equally well.
std::map<std::string, std::string> guessMapping(const ForeignTable& table);

struct ImportedRun {
    RunFolder folder;
    std::string columns;  ///< "columns: step is …": which was taken for what
    std::string known;    ///< "known settings: training.steps; the others are not known"
    /// What a person should know: what was left out, with the reason, and what was not read as it stands.
    std::vector<std::string> notes;
};

/// Makes a finished run of these numbers, to be compared with others; its log holds the notes, too. Numbers
/// of one step are joined, whichever rows they stand in; where the steps go back, as in the log of a run that
/// was resumed, the later rows count.
/// @param specification  what the run is to be taken for. Its `about.known` names the settings that somebody
/// said; of the others the run keeps nothing, and `training.steps` become those of the table. A run of which
/// neither model.position nor about.method was said has the method `kUnknownMethod`.
/// @throws Error (usage) naming a column that is missing, or a cell that cannot be what it is taken for
ImportedRun importRun(const std::filesystem::path& runs, const std::string& name, Specification specification,
                      const ForeignTable& table, const std::map<std::string, std::string>& mapping);

}  // namespace roper
