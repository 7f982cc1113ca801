#pragma once

#include <QStringList>

#include "ui/explorer/attention_state.h"

namespace roper {

/// The position methods as the list shows them; "partial" is RoPE with a fraction below 1.
QStringList methodNames();

/// The list's entry of a setup, and a setup with another entry. What the new method cannot have is switched
/// off.
int methodEntry(const Setup& setup);

/// The name of the entry, with the method where another one than the entry's goes with linear attention.
QString methodName(const Setup& setup);

void chooseMethod(Setup& setup, int entry);

/// How the method scores, as rich text.
QString scoreFormula(const Setup& setup);

/// The side note of the Attention page.
QString explainScore(const AttentionState& state);

}  // namespace roper
