#include "core/rotary/absolute_encoding.h"

#include <cmath>
#include <stdexcept>

namespace roper {

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
