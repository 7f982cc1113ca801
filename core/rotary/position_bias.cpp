#include "core/rotary/position_bias.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/rotary/head_vectors.h"

namespace roper {

double alibiSlope(int head, int heads) {
    if (head < 1 || head > heads)
        throw std::invalid_argument("head " + std::to_string(head) + " is not one of 1 to " +
                                    std::to_string(heads));
    return std::exp2(-8.0 * head / heads);
}

std::vector<double> alibiSlopes(int heads, double largest) {
    int power = 1;
    while (2 * power <= heads)
        power *= 2;
    std::vector<double> slopes;
    for (int head = 1; head <= heads; ++head)
        slopes.push_back(head <= power ? std::exp2(-largest * head / power)
                                       : std::exp2(-largest * (2 * (head - power) - 1) / (2 * power)));
    return slopes;
}

int t5Bucket(int distance, bool bidirectional, int buckets, int max_distance) {
    int first = 0;
    if (bidirectional) {
        buckets /= 2;
        if (distance < 0) first = buckets;
        distance = std::abs(distance);
    } else {
        distance = std::max(distance, 0);
    }
    const int exact = buckets / 2;
    if (distance < exact) return first + distance;
    const double logarithmic = std::log(static_cast<double>(distance) / exact) /
                               std::log(static_cast<double>(max_distance) / exact) * (buckets - exact);
    return first + std::min(exact + static_cast<int>(logarithmic), buckets - 1);
}

std::vector<double> exampleT5Biases(std::uint64_t seed, int buckets) {
    const Eigen::MatrixXd normal = normalMatrix(buckets, 1, seed);
    return {normal.data(), normal.data() + normal.size()};
}

double xposBase(int pair, int pairs) {
    constexpr double kGamma = 0.4;
    return (static_cast<double>(pair) / pairs + kGamma) / (1 + kGamma);
}

}  // namespace roper
