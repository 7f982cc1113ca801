#pragma once

#include <string>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// Labels of a run given by users, in labels.toml: trainers do not read it, and it can be changed at any
/// time.
struct RunLabels {
    std::string experiment;         ///< name of its experiment; empty: unnamed
    std::vector<std::string> tags;  ///< one word each
    std::string note;

    bool operator==(const RunLabels&) const = default;
};

FilePath labelsPath(const RunFolder& run);

/// Empty if the file is missing. @throws Error (usage) with path:line:column of what is wrong
RunLabels readLabels(const RunFolder& run);
RunLabels parseLabels(std::string_view toml, const std::string& origin);
std::string toToml(const RunLabels& labels);

/// Replaces the labels. @throws Error (usage) for a tag with a blank in it, Error (disk)
void writeLabels(const RunFolder& run, const RunLabels& labels);

}  // namespace roper
