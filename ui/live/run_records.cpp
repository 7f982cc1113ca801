#include "ui/live/run_records.h"

#include "core/compare/grouping.h"

namespace roper {

std::optional<RunRecord> recordOf(const RunWatcher& run) {
    if (!run.specification()) return std::nullopt;
    return RunRecord{run.folder().name(), *run.specification(), run.state(),  run.status().host,
                     run.metrics(),       run.evaluations(),    run.labels(), run.computations()};
}

std::vector<RunRecord> recordsOf(const RunStore& store) {
    std::vector<RunRecord> records;
    for (const RunWatcher* run : store.runs())
        if (auto record = recordOf(*run)) records.push_back(std::move(*record));
    return records;
}

QString twinNameOf(const RunStore& store, const QString& run) {
    if (run.isEmpty()) return {};
    const std::vector<RunRecord> records = recordsOf(store);
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (QString::fromStdString(records[i].name) != run) continue;
        const auto twin = findTwin(records, i);
        return twin ? QString::fromStdString(records[*twin].name) : QString();
    }
    return {};
}

}  // namespace roper
