#pragma once

#include <QString>

#include "core/compare/expected_time.h"

namespace roper {

/// "about 4 min on this machine", and what that is known from where it was not timed.
QString expectedTimeText(const ExpectedTime& time);

}  // namespace roper
