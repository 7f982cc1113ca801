#pragma once

#include <QString>
#include <utility>

#include "core/rotary/attention_form.h"

namespace roper {

/// What there is to tell of a mistake. Formula and code are right, then wrong; the wrong term is between ⟪
/// and ⟫.
struct MistakeStory {
    std::pair<QString, QString> formula, python, cpp;
    QString seen;           ///< where it was found
    QString why_it_trains;  ///< why nothing crashes
};

/// @param mistake  not `none`
const MistakeStory& storyOf(Mistake mistake);

/// The story as a page of rich text, the wrong terms in a colour. @param wrong  that colour
QString storyHtml(Mistake mistake, const QString& wrong);

}  // namespace roper
