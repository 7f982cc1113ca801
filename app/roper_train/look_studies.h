#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/roper_train/look_commands.h"
#include "core/inspection/inspector.h"

namespace roper {

/// Whether a question of `look` takes many passes, or a look at every layer: subsets, lengths, needle, lens,
/// patch.
bool isStudy(const std::string& what);

/// Prints its answer, as lines of CSV or as JSON. @throws Error of every kind
int printStudy(Inspector& inspector, const std::vector<std::int64_t>& ids, const Intervention& change,
               const LookOptions& options);

}  // namespace roper
