#include "ui/live/run_records.h"

namespace roper {

std::optional<RunRecord> recordOf(const RunWatcher& run) {
    if (!run.specification()) return std::nullopt;
    return RunRecord{run.folder().name(), *run.specification(), run.state(), run.status().host,
                     run.metrics(),       run.evaluations(),    run.labels()};
}

std::vector<RunRecord> recordsOf(const RunStore& store) {
    std::vector<RunRecord> records;
    for (const RunWatcher* run : store.runs())
        if (auto record = recordOf(*run)) records.push_back(std::move(*record));
    return records;
}

}  // namespace roper
