#pragma once

#include <QString>

#include "core/rotary/attention_form.h"
#include "ui/explorer/selection.h"

namespace roper {

// Names on the Value mixing page for the attention form shown: RoPER, a blend of RoPE and RoPER, RoPER with a
// mistake, or a rotation of only values or only outputs.

/// "RoPER", or "qkv rotated".
QString mixingName(const Setup& setup);

/// "RoPER", "40 % of the way to RoPER", "RoPER, mistake: inverse forgotten".
QString mixingTitle(const Setup& setup);

/// Which tensors rotate in the form shown: RoPER's, unless the Attention page's method rotates only values or
/// only outputs.
RotatedTensors mixedTensors(const Setup& setup);

/// The form shown: RoPER or, if `mixedTensors` are others, their rotation, with the setup's blend and
/// mistake.
AttentionForm mixingForm(const Setup& setup);
/// The same without the mistake.
AttentionForm correctMixingForm(const Setup& setup);

/// Formulas of a form, as plain text with subscripts. n: position of the query, j: of a key, a: weight of the
/// key, v: its value, R(p): rotation by position p, o: output.
struct MixingFormulas {
    QString rotate;         ///< "v′ⱼ = R(j)vⱼ"
    QString mix;            ///< "ô = Σ a v′"
    QString rotate_back;    ///< "o = R(−n)ô"
    QString output;         ///< all steps together: "o = Σ a R(j−n)v"
    QString angle;          ///< rotation angle of key j: "(j−n)θ"
    QString direct_output;  ///< the correct form, regardless of the mistake: "Σ a R(j−n)v"
};
MixingFormulas mixingFormulas(const Setup& setup);

}  // namespace roper
