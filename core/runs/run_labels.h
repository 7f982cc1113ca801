#pragma once

#include <string>
#include <vector>

#include "core/runs/run_folder.h"

namespace roper {

/// What people say of a run, in its labels.toml: no trainer reads it, and it may be changed at any time.
struct RunLabels {
    std::string experiment;         ///< name of what it was started in; empty: nobody has named it
    std::vector<std::string> tags;  ///< one word each
    std::string note;

    bool operator==(const RunLabels&) const = default;
};

FilePath labelsPath(const RunFolder& run);

/// A missing file has none. @throws Error (usage) with path:line:column of what is wrong
RunLabels readLabels(const RunFolder& run);
RunLabels parseLabels(std::string_view toml, const std::string& origin);
std::string toToml(const RunLabels& labels);

/// Replaces them. @throws Error (usage) for a tag with a blank in it, Error (disk)
void writeLabels(const RunFolder& run, const RunLabels& labels);

}  // namespace roper
