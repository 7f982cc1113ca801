#include "core/compare/run_table.h"

#include "core/base/error.h"

namespace roper {

RunTable::RunTable(const std::filesystem::path& runs, bool with_metrics)
    : RunTable(listRuns(runs), with_metrics) {}

RunTable::RunTable(std::span<const RunFolder> runs, bool with_metrics) {
    for (const RunFolder& folder : runs) {
        try {
            auto rows = std::make_unique<Rows>();
            if (with_metrics) rows->metrics = folder.metrics();
            rows->evaluations = folder.evaluations();
            const Status status = folder.status();
            records_.push_back({folder.name(), folder.specification(), folder.effectiveState(status),
                                status.host, rows->metrics, rows->evaluations, readLabels(folder),
                                computeEnvironmentsOf(readSessions(folder))});
            rows_.push_back(std::move(rows));
        } catch (const Error& error) {
            problems_.emplace_back(error.what());
        }
    }
}

}  // namespace roper
