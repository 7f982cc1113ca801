#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace roper {

/// Queries, keys and values of one head for T tokens, before anything is rotated: each [T × d].
struct HeadVectors {
    Eigen::MatrixXd Q, K, V;

    int tokens() const { return static_cast<int>(Q.rows()); }

    /// Equal in shapes and entries.
    bool operator==(const HeadVectors& other) const;
};

/// Normal numbers, mean 0 and variance 1, that follow from the seed alone, on every machine.
Eigen::MatrixXd normalMatrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed);

/// Seeded random vectors. `similarity` 0 makes all tokens independent of each other; 1 makes them all the
/// same, so that what a score shows is position alone. Between, each vector is √similarity·common + √(1 −
/// similarity)·own, which keeps its variance; queries and keys share their common part.
HeadVectors randomHeadVectors(int T, int head_dim, std::uint64_t seed, double similarity);

}  // namespace roper
