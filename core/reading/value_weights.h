#pragma once

#include <Eigen/Core>

#include "core/language_model/decoder.h"
#include "core/rotary/rotation.h"

namespace roper {

/// Rotation of a layer's values; without pairs if they are not rotated, so that value kernels are the same at
/// every distance.
Rotary valueRotation(const Architecture& model, std::int64_t layer);

/// W_O [C × d] and W_V [d × C] of a layer's heads, and the rotation of their values.
class ValueWeights {
  public:
    ValueWeights(Decoder& decoder, std::int64_t layer);

    Eigen::MatrixXd output(std::int64_t head) const;
    Eigen::MatrixXd value(std::int64_t head) const;
    const Rotary& rotation() const { return rotation_; }

  private:
    const Architecture& model_;
    at::Tensor output_, value_;
    Rotary rotation_;
};

}  // namespace roper
