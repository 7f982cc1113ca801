#pragma once

#include <vector>

namespace roper {

/// Offsets across a row of dots, chosen so that dots do not overlap if there is room: the first of several
/// overlapping dots stays in the middle. The result is deterministic.
/// @param along  positions of the dots along the row
/// @param reach  maximum offset to either side
std::vector<double> beeswarm(const std::vector<double>& along, double diameter, double reach);

}  // namespace roper
