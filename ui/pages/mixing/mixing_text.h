#pragma once

#include <QString>

#include "core/rotary/attention_form.h"
#include "ui/explorer/selection.h"

namespace roper {

// What the Value mixing page calls the form that it shows: RoPER, a blend of RoPE and RoPER, or RoPER with a
// mistake.

/// "RoPER", "40 % of the way to RoPER", "RoPER, mistake: inverse forgotten".
QString mixingTitle(const Setup& setup);

/// The setup's form of RoPER, whatever method the Attention page is on: with its blend and its mistake.
AttentionForm mixingForm(const Setup& setup);
/// The same without the mistake.
AttentionForm rightMixingForm(const Setup& setup);

/// The formulas of a form, as plain text with subscripts.
struct MixingFormulas {
    QString rotate;       ///< "v′ⱼ = R(j)vⱼ"
    QString mix;          ///< "ô = Σ a v′"
    QString rotate_back;  ///< "o = R(−n)ô"
    QString output;       ///< all at once: "o = Σ a R(j−n)v"
    QString angle;        ///< of key j: "(j−n)θ"
    QString in_one_step;  ///< as it should be, whatever the mistake: "Σ a R(j−n)v"
};
MixingFormulas mixingFormulas(const Setup& setup);

}  // namespace roper
