#pragma once

#include "ui/explorer/attention_state.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// The controls that say where q, k and v come from: seeded random numbers, a table, or a run.
void addSourceControls(SetupPanel& panel, AttentionState& state);

}  // namespace roper
