#include "core/rotary/head_vectors.h"

#include <cmath>
#include <numbers>
#include <random>

#include "core/rotary/comparable_vector.h"

namespace roper {

bool HeadVectors::operator==(const HeadVectors& other) const {
    return haveEqualEntries(Q, other.Q) && haveEqualEntries(K, other.K) && haveEqualEntries(V, other.V);
}

Eigen::MatrixXd normalMatrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
    // The standard defines the output of this generator, but distributions may differ between libraries, so
    // the normal numbers are computed here (Box & Muller 1958).
    std::mt19937_64 generator(seed);
    const auto uniform = [&] { return (static_cast<double>(generator() >> 11) + 0.5) * 0x1.0p-53; };
    Eigen::MatrixXd numbers(rows, columns);
    for (Eigen::Index row = 0; row < rows; ++row) {
        for (Eigen::Index column = 0; column < columns; ++column) {
            const double radius = std::sqrt(-2 * std::log(uniform()));
            numbers(row, column) = radius * std::cos(2 * std::numbers::pi * uniform());
        }
    }
    return numbers;
}

HeadVectors randomHeadVectors(int T, int head_dim, std::uint64_t seed, double similarity) {
    // Independent streams of one seed; the first rows do not depend on the number of tokens.
    const auto stream = [&](Eigen::Index rows, std::uint64_t number) {
        return normalMatrix(rows, head_dim, seed * 1000 + number);
    };
    const Eigen::RowVectorXd common = stream(1, 0).row(0), common_value = stream(1, 1).row(0);
    const auto vectors = [&](std::uint64_t number, const Eigen::RowVectorXd& shared) {
        Eigen::MatrixXd own = std::sqrt(1 - similarity) * stream(T, number);
        own.rowwise() += std::sqrt(similarity) * shared;
        return own;
    };
    return {vectors(2, common), vectors(3, common), vectors(4, common_value)};
}

}  // namespace roper
