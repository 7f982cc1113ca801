#pragma once

#include <QString>
#include <utility>

#include "core/rotary/attention_form.h"

namespace roper {

/// Display name of a mistake, and what is wrong.
struct MistakeText {
    QString name, what;
};
MistakeText describe(Mistake mistake);

/// Explanation of a mistake. Formula and code come as correct and wrong version; wrong terms are between ⟪
/// and ⟫.
struct MistakeExplanation {
    std::pair<QString, QString> formula, python, cpp;
    QString seen;           ///< where the mistake was seen
    QString why_it_trains;  ///< why training does not crash
};

/// @param mistake  not `none`
const MistakeExplanation& explanationOf(Mistake mistake);

/// The explanation as rich text. @param wrong  colour of the wrong terms
QString explanationHtml(Mistake mistake, const QString& wrong);

}  // namespace roper
