#include "core/rotary/frequencies.h"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace roper {

Eigen::VectorXd frequencies(int rotated_width, double base, FrequencyFormula formula, int exponent_width) {
    if (rotated_width < 2 || rotated_width % 2 != 0)
        throw std::invalid_argument("the rotated width must be even and at least 2, not " +
                                    std::to_string(rotated_width));
    if (!(base > 1.0) || !std::isfinite(base))
        throw std::invalid_argument("the base must be a finite number above 1, not " + std::to_string(base));
    const double step = formula == FrequencyFormula::standard ? 2.0 : 1.0;
    const int r = exponent_width > 0 ? exponent_width : rotated_width;
    Eigen::VectorXd theta(rotated_width / 2);
    for (Eigen::Index i = 0; i < theta.size(); ++i)
        theta[i] = std::pow(base, -step * static_cast<double>(i) / r);
    return theta;
}

Eigen::VectorXd wavelengths(const Eigen::VectorXd& theta) {
    return (2.0 * std::numbers::pi) * theta.cwiseInverse();
}

Eigen::MatrixXd sinusoidTable(int positions, int width, double base, int first) {
    if (positions < 1 || width < 1 || !(base > 1))
        throw std::invalid_argument("a table of sinusoids needs positions, a width and a base above 1");
    Eigen::MatrixXd table(positions, width);
    for (int feature = 0; feature < width; ++feature) {
        const double frequency = std::pow(base, -2.0 * (feature / 2) / width);
        const Eigen::ArrayXd angles =
            Eigen::ArrayXd::LinSpaced(positions, first, first + positions - 1) * frequency;
        if (feature % 2 == 0)
            table.col(feature) = angles.sin();
        else
            table.col(feature) = angles.cos();
    }
    return table;
}

}  // namespace roper
