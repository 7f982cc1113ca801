#include "core/model/positions/rotary_positions.h"

namespace roper {

/// Rotation of queries, keys and values, and of the output back (Harik & Jayasiri 2022).
std::unique_ptr<Positions> roperPositions(const Specification& specification, Parameters& parameters,
                                          at::TensorOptions options) {
    return std::make_unique<RotaryPositions>(specification, parameters, options);
}

}  // namespace roper
