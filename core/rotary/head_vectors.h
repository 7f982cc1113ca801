#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace roper {

/// Queries, keys and values of one head for T tokens, before rotation: each [T × d].
struct HeadVectors {
    Eigen::MatrixXd Q, K, V;

    int tokens() const { return static_cast<int>(Q.rows()); }

    /// Equal in shapes and entries.
    bool operator==(const HeadVectors& other) const;
};

/// Standard normal numbers, determined by the seed on every machine.
Eigen::MatrixXd normalMatrix(Eigen::Index rows, Eigen::Index columns, std::uint64_t seed);

/// Seeded random vectors. With `similarity` 0 all tokens are independent; with 1 they are equal, so that
/// scores depend only on position. In between, each vector is √similarity·common + √(1 − similarity)·own,
/// which keeps its variance; queries and keys have the same common vector, values another.
HeadVectors randomHeadVectors(int T, int head_dim, std::uint64_t seed, double similarity);

}  // namespace roper
