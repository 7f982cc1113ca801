#pragma once

#include <vector>

#include "core/rotary/enum_names.h"

namespace roper {

/// Which two features form pair i of a vector whose first r features rotate.
enum class Pairing {
    half,         ///< x_i with x_{i+r/2}: labml's RoPER, GPT-NeoX, Llama in Hugging Face
    interleaved,  ///< x_{2i} with x_{2i+1}: Su et al., GPT-J
};

/// The names of these values in specifications and setups.
template <>
inline constexpr EnumNames<2> kEnumNames<Pairing>{"pairing", {"half", "interleaved"}};

struct PairFeatures {
    int first;
    int second;
};

/// The two features of pair `pair` when `rotated_width` features rotate, the first of which has index
/// `first`.
PairFeatures featuresOfPair(Pairing pairing, int rotated_width, int pair, int first = 0);

/// The permutation p with y[k] = x[p[k]] that converts a vector from the layout of `from` to that of `to`.
/// Rotating y under `to` and permuting back equals rotating x under `from`. Features from `rotated_width` on
/// are not moved.
std::vector<int> pairingPermutation(Pairing from, Pairing to, int head_dim, int rotated_width);

}  // namespace roper
