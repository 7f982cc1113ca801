#pragma once

#include <string>
#include <vector>

#include "core/rotary/named.h"

namespace roper {

/// How scores become weights.
enum class AttentionKind {
    softmax,           ///< softmax of q·k/√d, plus a bias
    linear_numerator,  ///< φ(q)·φ(k) with φ(x) = elu(x) + 1, rotated in the numerator alone: Su et al. 2021,
                       ///< eq. 19
    linear_cosine,  ///< 1 + cosine of q and k (Su 2021); rotation keeps it a probability
};

/// Their names in specifications, in this order.
inline const std::vector<std::string>& attentionKindNames() {
    static const std::vector<std::string> names = {"softmax", "linear_numerator", "linear_cosine"};
    return names;
}
template <>
inline constexpr EnumNames kEnumNames<AttentionKind>{attentionKindNames, "attention"};

}  // namespace roper
