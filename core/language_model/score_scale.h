#pragma once

#include <cmath>
#include <cstdint>

#include "core/pretrained/architecture.h"

namespace roper {

/// The factor c of the scores c·q·k in a layer.
inline double scoreScale(const Architecture& model, std::int64_t layer) {
    const double scale = model.score_scale > 0 ? model.score_scale
                                               : 1 / std::sqrt(static_cast<double>(model.headDimOf(layer)));
    return scale / (model.scores_by_layer ? static_cast<double>(layer + 1) : 1);
}

}  // namespace roper
