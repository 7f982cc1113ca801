#pragma once

#include <QString>

#include "core/compare/expected_time.h"

namespace roper {

/// "about 4 min on this machine", and what that is known from where it was not timed.
QString expectedTimeText(const ExpectedTime& time);

/// When that will be: "at 14:35", "tomorrow at 02:10", "on 27 Nov at 09:00".
QString clockTimeText(double seconds_from_now);

}  // namespace roper
