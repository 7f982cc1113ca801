#pragma once

#include <vector>

#include "core/compare/outcome.h"
#include "ui/live/run_store.h"

namespace roper {

/// Record of a run for comparisons; nothing if its specification cannot be read. Valid until the run is
/// polled.
std::optional<RunRecord> recordOf(const RunWatcher& run);
/// The same for a run that may be missing.
inline std::optional<RunRecord> recordOf(const RunWatcher* run) {
    return run != nullptr ? recordOf(*run) : std::nullopt;
}

/// Records of all runs.
std::vector<RunRecord> recordsOf(const RunStore& store);

/// Name of a run's twin (`findTwin`); empty if there is none.
QString twinNameOf(const RunStore& store, const QString& run);

}  // namespace roper
