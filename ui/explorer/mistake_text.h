#pragma once

#include <QString>

#include "core/rotary/attention_form.h"

namespace roper {

/// Display name of a mistake, and what is wrong.
struct MistakeText {
    QString name, what;
};
MistakeText describe(Mistake mistake);

}  // namespace roper
