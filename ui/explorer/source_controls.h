#pragma once

#include "ui/explorer/attention_state.h"
#include "ui/explorer/setup_panel.h"

namespace roper {

/// How a page uses the vectors; controls without effect on it are hidden.
enum class SourceUse {
    attention,  ///< all vectors are visible
    mixing,     ///< random vectors matter only if all tokens are mixed
};

/// Adds the controls for the source of q, k and v: seeded random numbers, a table, or a model.
void addSourceControls(SetupPanel& panel, AttentionState& state, SourceUse use);

}  // namespace roper
