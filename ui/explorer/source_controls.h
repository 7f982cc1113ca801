#pragma once

#include "ui/explorer/attention_state.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// What a page does with the vectors: controls that would change nothing on it are hidden.
enum class SourceUse {
    attention,  ///< all of them are seen
    mixing,     ///< random numbers are seen only where all tokens are mixed
};

/// The controls that say where q, k and v come from: seeded random numbers, a table, or a run.
void addSourceControls(SetupPanel& panel, AttentionState& state, SourceUse use);

}  // namespace roper
