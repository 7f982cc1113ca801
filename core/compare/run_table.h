#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/compare/outcome.h"
#include "core/runs/run_folder.h"

namespace roper {

/// Runs of a folder, read once.
class RunTable {
  public:
    /// @param with_metrics  whether metrics.csv is also read; evaluations always are
    explicit RunTable(const std::filesystem::path& runs, bool with_metrics = true);
    explicit RunTable(std::span<const RunFolder> runs, bool with_metrics = true);

    const std::vector<RunRecord>& records() const { return records_; }
    /// Folders that cannot be read, each with the reason.
    const std::vector<std::string>& problems() const { return problems_; }

  private:
    struct Rows {
        std::vector<MetricsRow> metrics;
        std::vector<EvaluationRow> evaluations;
    };
    std::vector<std::unique_ptr<Rows>> rows_;
    std::vector<RunRecord> records_;
    std::vector<std::string> problems_;
};

}  // namespace roper
