#pragma once

#include <vector>

namespace roper {

/// How far each dot of a row of values is moved across the row, so that no dot lies on another where there is
/// room: the first of those that would overlap stays in the middle. The same values give the same offsets.
/// @param along  where the dots lie along the row
/// @param reach  the most that one may be moved, to either side
std::vector<double> beeswarm(const std::vector<double>& along, double diameter, double reach);

}  // namespace roper
