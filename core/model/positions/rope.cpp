#include "core/model/positions/rotary_positions.h"

namespace roper {

/// Rotation of queries and keys (Su et al. 2021).
std::unique_ptr<Positions> ropePositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options) {
    return std::make_unique<RotaryPositions>(specification, parameters, options);
}

}  // namespace roper
