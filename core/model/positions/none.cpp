#include "core/model/positions/positions.h"

namespace roper {

std::unique_ptr<Positions> nonePositions(const Specification& specification, Parameters&,
                                         at::TensorOptions options) {
    return std::make_unique<Positions>(specification, options);
}

}  // namespace roper
