#pragma once

#include "core/rotary/enum_names.h"

namespace roper {

/// How scores are turned into weights.
enum class AttentionKind {
    softmax,  ///< softmax of q·k/√d, plus a bias
    /// φ(q)·φ(k) with φ(x) = elu(x) + 1, rotated only in the numerator: Su et al. 2021, eq. 19
    linear_numerator,
    linear_cosine,  ///< 1 + cosine of q and k (Su 2021), which is never negative, even with rotation
};

/// The names of these values in specifications.
template <>
inline constexpr EnumNames<3> kEnumNames<AttentionKind>{"attention",
                                                        {"softmax", "linear_numerator", "linear_cosine"}};

}  // namespace roper
