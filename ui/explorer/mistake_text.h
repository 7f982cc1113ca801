#pragma once

#include <QString>

#include "core/rotary/attention_form.h"

namespace roper {

/// A mistake's name and what is wrong, for people.
struct MistakeText {
    QString name, what;
};
MistakeText describe(Mistake mistake);

}  // namespace roper
