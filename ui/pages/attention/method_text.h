#pragma once

#include <QStringList>

#include "ui/explorer/attention_state.h"

namespace roper {

/// Display names of the position methods; "partial" is RoPE with a fraction below 1.
QStringList methodNames();

/// Index in `methodNames` of a setup's method.
int methodEntry(const Setup& setup);

/// Name of that entry; includes the method if linear attention is combined with another than the entry's.
QString methodName(const Setup& setup);

/// Changes a setup to the method of an entry; settings that it does not support are switched off.
void chooseMethod(Setup& setup, int entry);

/// The formula of a score, as rich text.
QString scoreFormulaText(const Setup& setup);

/// The explanation beside the Attention page.
QString explainScore(const AttentionState& state);

}  // namespace roper
