#include "core/rotary/pairing.h"

#include <numeric>
#include <stdexcept>
#include <string>

namespace roper {

PairFeatures featuresOfPair(Pairing pairing, int rotated_width, int pair, int first) {
    const int pairs = rotated_width / 2;
    if (pair < 0 || pair >= pairs)
        throw std::invalid_argument("pair " + std::to_string(pair) + " is out of range; there are " +
                                    std::to_string(pairs) + " pairs");
    if (pairing == Pairing::half) return {first + pair, first + pair + pairs};
    return {first + 2 * pair, first + 2 * pair + 1};
}

std::vector<int> pairingPermutation(Pairing from, Pairing to, int head_dim, int rotated_width) {
    std::vector<int> permutation(static_cast<std::size_t>(head_dim));
    std::iota(permutation.begin(), permutation.end(), 0);
    for (int pair = 0; pair < rotated_width / 2; ++pair) {
        const PairFeatures source = featuresOfPair(from, rotated_width, pair);
        const PairFeatures target = featuresOfPair(to, rotated_width, pair);
        permutation[static_cast<std::size_t>(target.first)] = source.first;
        permutation[static_cast<std::size_t>(target.second)] = source.second;
    }
    return permutation;
}

}  // namespace roper
