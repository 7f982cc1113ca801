#include "core/model/positions/rotary_positions.h"

namespace roper {

/// Rotation of queries and keys, whose pairs decay by their positions (Sun et al. 2022).
std::unique_ptr<Positions> xposPositions(const Specification& specification, Parameters& parameters,
                                         at::TensorOptions options) {
    return std::make_unique<RotaryPositions>(specification, parameters, options);
}

}  // namespace roper
