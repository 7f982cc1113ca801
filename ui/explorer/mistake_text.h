#pragma once

#include <QString>
#include <utility>

#include "core/rotary/attention_form.h"

namespace roper {

/// A mistake in words. Formula and code are {correct, wrong}, with the wrong terms between ⟪ and ⟫.
struct MistakeText {
    QString name, what;  ///< display name, and what is wrong
    std::pair<QString, QString> formula = {}, python = {}, cpp = {};
    QString seen = {};           ///< where the mistake was seen
    QString why_it_trains = {};  ///< why training does not crash
};
/// For `none` only the name.
const MistakeText& describe(Mistake mistake);

/// The explanation as rich text. @param wrong  color of the wrong terms
QString explanationHtml(Mistake mistake, const QString& wrong);

}  // namespace roper
