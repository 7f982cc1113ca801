#pragma once

#include <QString>

#include "core/rotary/attention_form.h"

namespace roper {

/// What there is to tell of a mistake. The wrong term of formulas and code is between ⟪ and ⟫.
struct MistakeStory {
    QString right_formula, wrong_formula;
    QString right_python, wrong_python;
    QString right_cpp, wrong_cpp;
    QString seen;           ///< where it was found
    QString why_it_trains;  ///< why nothing crashes
};

/// @param mistake  not `none`
MistakeStory storyOf(Mistake mistake);

/// The story as a page of rich text, the wrong terms in a colour. @param wrong  that colour
QString storyHtml(Mistake mistake, const QString& wrong);

}  // namespace roper
