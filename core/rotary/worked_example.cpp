#include "core/rotary/worked_example.h"

#include <cmath>
#include <stdexcept>

#include "core/rotary/rotary_config.h"

namespace roper {
namespace {

double roundTo(double value, int decimals) {
    const double scale = std::pow(10.0, decimals);
    return std::round(value * scale) / scale;
}

WorkedPair computeWorkedPair(const Rotary& rotary, const Eigen::VectorXd& x, double position, int pair) {
    WorkedPair work{};
    const auto [first, second] = rotary.features(pair);
    work.first = first;
    work.second = second;
    work.theta = rotary.theta[pair];
    work.angle = position * work.theta;
    work.cosine = std::cos(work.angle);
    work.sine = std::sin(work.angle);
    work.x1 = x[first];
    work.x2 = x[second];
    return work;
}

void multiplyAndAdd(WorkedPair& work) {
    work.x1_cos = work.x1 * work.cosine;
    work.x2_sin = work.x2 * work.sine;
    work.x1_sin = work.x1 * work.sine;
    work.x2_cos = work.x2 * work.cosine;
    work.y1 = work.x1_cos - work.x2_sin;
    work.y2 = work.x1_sin + work.x2_cos;
}

}  // namespace

double WorkedExample::largestDifference() const {
    return result.size() == 0 ? 0.0 : (result - rounded_result).cwiseAbs().maxCoeff();
}

WorkedExample computeWorkedExample(const Rotary& rotary, const Eigen::VectorXd& x, double position,
                                   int decimals) {
    if (x.size() != rotary.head_dim)
        throw std::invalid_argument("the example needs a vector of " + std::to_string(rotary.head_dim) +
                                    " features, not " + std::to_string(x.size()));
    WorkedExample example;
    example.position = position;
    example.decimals = decimals;
    example.result = x;
    example.rounded_result = x;
    for (int i = 0; i < rotary.pairs(); ++i) {
        WorkedPair exact = computeWorkedPair(rotary, x, position, i);
        WorkedPair rounded = exact;
        rounded.cosine = roundTo(exact.cosine, decimals);
        rounded.sine = roundTo(exact.sine, decimals);
        multiplyAndAdd(exact);
        multiplyAndAdd(rounded);
        example.result[exact.first] = exact.y1;
        example.result[exact.second] = exact.y2;
        example.rounded_result[exact.first] = rounded.y1;
        example.rounded_result[exact.second] = rounded.y2;
        example.exact.push_back(exact);
        example.rounded.push_back(rounded);
    }
    return example;
}

WorkedExample workedExample() {
    const RotaryConfig rotation{.head_dim = 4,
                                .frequency_formula = FrequencyFormula::worked_example,
                                .pairing = Pairing::interleaved};
    return computeWorkedExample(rotation.rotationForLength(1), Eigen::Vector4d(0.5, -1.0, 1.5, 2.0), 3.0);
}

}  // namespace roper
