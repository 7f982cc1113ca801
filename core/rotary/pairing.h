#pragma once

#include <string>
#include <vector>

#include "core/rotary/named.h"

namespace roper {

/// Which two features make pair i of a vector whose first r features rotate.
enum class Pairing {
    half,         ///< x_i with x_{i+r/2}: labml's RoPER, GPT-NeoX, Llama in Hugging Face
    interleaved,  ///< x_{2i} with x_{2i+1}: Su et al., GPT-J
};

/// Their names in specifications and setups, in this order.
inline const std::vector<std::string>& pairingNames() {
    static const std::vector<std::string> names = {"half", "interleaved"};
    return names;
}
template <>
inline constexpr EnumNames kEnumNames<Pairing>{pairingNames, "pairing"};

struct PairFeatures {
    int first;
    int second;
};

/// The two features of pair `pair` when `rotated_width` features rotate.
PairFeatures featuresOfPair(Pairing pairing, int rotated_width, int pair);

/// The permutation p with y[k] = x[p[k]] that takes a vector laid out for `from` to the same vector laid
/// out for `to`. Rotating y under `to` and permuting back equals rotating x under `from`. Features beyond
/// `rotated_width` stay where they are.
std::vector<int> pairingPermutation(Pairing from, Pairing to, int head_dim, int rotated_width);

}  // namespace roper
