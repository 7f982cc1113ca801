#pragma once

#include <Eigen/Core>

#include "core/language_model/decoder.h"
#include "core/rotary/rotation.h"

namespace roper {

/// W_O [C × d] and W_V [d × C] of the heads of a layer, and the rotation of their values.
class ValueWeights {
  public:
    ValueWeights(Decoder& decoder, std::int64_t layer);

    Eigen::MatrixXd output(std::int64_t head) const;
    Eigen::MatrixXd value(std::int64_t head) const;
    /// Without pairs where values do not rotate: they are the same at every distance.
    const Rotary& rotation() const { return rotation_; }

  private:
    const Architecture& model_;
    at::Tensor output_, value_;
    Rotary rotation_;
};

}  // namespace roper
