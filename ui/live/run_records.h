#pragma once

#include <vector>

#include "core/compare/outcome.h"
#include "ui/live/run_store.h"

namespace roper {

/// A run as comparisons see it; nothing if its specification cannot be read. Valid until the run is polled.
std::optional<RunRecord> recordOf(const RunWatcher& run);
/// The same of one that may be missing.
inline std::optional<RunRecord> recordOf(const RunWatcher* run) {
    return run != nullptr ? recordOf(*run) : std::nullopt;
}

/// The same of all runs.
std::vector<RunRecord> recordsOf(const RunStore& store);

/// The name of a run's twin (`twinOf`); empty if it has none.
QString twinNameOf(const RunStore& store, const QString& run);

}  // namespace roper
