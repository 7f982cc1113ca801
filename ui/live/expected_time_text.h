#pragma once

#include <QString>

#include "core/compare/expected_time.h"

namespace roper {

/// "about 4 min on this machine", with the basis of the estimate if it was not timed.
QString expectedTimeText(const ExpectedTime& time);

/// The time of day at the end: "at 14:35", "tomorrow at 02:10", "on 27 Nov at 09:00".
QString clockTimeText(double seconds_from_now);

}  // namespace roper
