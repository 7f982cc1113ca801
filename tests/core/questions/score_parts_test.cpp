#include "core/questions/score_parts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace roper {
namespace {

Eigen::MatrixXd normalNumbers(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal;
    return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(generator); });
}

/// Two matrices [queries × keys] of the parts, and which keys a query sees.
struct Parts {
    Eigen::MatrixXd a, b;
    Eigen::MatrixXi sees;
};

Parts partsOf(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, Eigen::Index rotated, double scale,
              Eigen::Index window, bool causal) {
    const Eigen::Index T = Q.rows();
    Parts parts{scale * Q.leftCols(rotated) * K.leftCols(rotated).transpose(),
                scale * Q.rightCols(Q.cols() - rotated) * K.rightCols(Q.cols() - rotated).transpose(),
                Eigen::MatrixXi::Zero(T, T)};
    for (Eigen::Index n = 0; n < T; ++n)
        for (Eigen::Index j = 0; j < T; ++j)
            parts.sees(n, j) = std::abs(n - j) < window && (!causal || j <= n) ? 1 : 0;
    for (Eigen::Index n = 0; n < T; ++n)  // queries with one key are left out
        if (parts.sees.row(n).sum() < 2) parts.sees.row(n).setZero();
    return parts;
}

/// The mean of `x` over visible keys, then over queries.
double meanOf(const Parts& parts, const Eigen::MatrixXd& x) {
    double sum = 0, queries = 0;
    for (Eigen::Index n = 0; n < x.rows(); ++n) {
        const double keys = parts.sees.row(n).sum();
        if (keys == 0) continue;
        sum += (x.row(n).array() * parts.sees.row(n).cast<double>().array()).sum() / keys;
        ++queries;
    }
    return sum / queries;
}

Eigen::MatrixXd centered(const Parts& parts, Eigen::MatrixXd x) {
    for (Eigen::Index n = 0; n < x.rows(); ++n)
        x.row(n).array() -= (x.row(n).array() * parts.sees.row(n).cast<double>().array()).sum() /
                            std::max(parts.sees.row(n).sum(), 1);
    return x;
}

/// The share of the variance of `x` that remains if it is replaced by its mean at each distance.
double byDistance(const Parts& parts, const Eigen::MatrixXd& x) {
    std::map<Eigen::Index, std::pair<double, double>> sums;
    const auto each = [&](const auto& visit) {
        for (Eigen::Index n = 0; n < x.rows(); ++n)
            for (Eigen::Index j = 0; j < x.cols(); ++j)
                if (parts.sees(n, j) > 0) visit(n, j, 1.0 / parts.sees.row(n).sum());
    };
    each([&](Eigen::Index n, Eigen::Index j, double weight) {
        sums[n - j].first += weight * x(n, j);
        sums[n - j].second += weight;
    });
    Eigen::MatrixXd left = x;
    each([&](Eigen::Index n, Eigen::Index j, double) {
        left(n, j) -= sums[n - j].first / sums[n - j].second;
    });
    return 1 - meanOf(parts, left.cwiseAbs2()) / meanOf(parts, x.cwiseAbs2());
}

double shareOfSameChoice(const Parts& parts, const Eigen::MatrixXd& part) {
    double same = 0, queries = 0;
    for (Eigen::Index n = 0; n < part.rows(); ++n) {
        if (parts.sees.row(n).sum() == 0) continue;
        const auto best = [&](const Eigen::MatrixXd& x) {
            Eigen::Index at = -1;
            for (Eigen::Index j = 0; j < x.cols(); ++j)
                if (parts.sees(n, j) > 0 && (at < 0 || x(n, j) > x(n, at))) at = j;
            return at;
        };
        same += best(part) == best(parts.a + parts.b) ? 1 : 0;
        ++queries;
    }
    return same / queries;
}

void expectByDefinition(const ScoreParts& got, const Parts& parts) {
    const Eigen::MatrixXd a = centered(parts, parts.a), b = centered(parts, parts.b);
    const double of_a = meanOf(parts, a.cwiseAbs2()), of_b = meanOf(parts, b.cwiseAbs2());
    EXPECT_NEAR(got.rotated_mean, meanOf(parts, parts.a.cwiseAbs()), 1e-12);
    EXPECT_NEAR(got.unrotated_mean, meanOf(parts, parts.b.cwiseAbs()), 1e-12);
    EXPECT_NEAR(got.rotated_deviation, std::sqrt(of_a), 1e-12);
    EXPECT_NEAR(got.unrotated_deviation, std::sqrt(of_b), 1e-12);
    EXPECT_NEAR(got.rotated_share, meanOf(parts, a.cwiseProduct(a + b)) / meanOf(parts, (a + b).cwiseAbs2()),
                1e-12);
    EXPECT_NEAR(got.correlation, meanOf(parts, a.cwiseProduct(b)) / std::sqrt(of_a * of_b), 1e-12);
    EXPECT_NEAR(got.rotated_by_distance, byDistance(parts, a), 1e-12);
    EXPECT_NEAR(got.unrotated_by_distance, byDistance(parts, b), 1e-12);
    EXPECT_NEAR(got.rotated_decides, shareOfSameChoice(parts, parts.a), 1e-12);
    EXPECT_NEAR(got.unrotated_decides, shareOfSameChoice(parts, parts.b), 1e-12);
}

TEST(ScoreParts, AreAsDefined) {
    const Eigen::MatrixXd Q = normalNumbers(40, 10, 1), K = normalNumbers(40, 10, 2);
    for (const Eigen::Index rotated : {2, 6})
        for (const Eigen::Index window : {40, 7, 2})
            for (const bool causal : {true, false})
                expectByDefinition(scoreParts(Q, K, rotated, 0.3, window, causal),
                                   partsOf(Q, K, rotated, 0.3, window, causal));
}

TEST(ScoreParts, APartThatDependsOnDistanceAloneIsExplainedByIt) {
    // q = (cos φn, sin φn, 1), k = (cos φj, sin φj, noise): the rotated part is cos φ(n − j).
    const Eigen::Index T = 30;
    Eigen::MatrixXd Q(T, 3), K(T, 3);
    const Eigen::MatrixXd noise = normalNumbers(T, 1, 3);
    for (Eigen::Index n = 0; n < T; ++n) {
        const double angle = 0.2 * static_cast<double>(n);
        Q.row(n) << std::cos(angle), std::sin(angle), 1;
        K.row(n) << std::cos(angle), std::sin(angle), noise(n);
    }
    // All queries have the same keys at the same distances, so that no mean over keys adds to it.
    const ScoreParts parts = scoreParts(Q, K, 2, 1, 2);
    EXPECT_NEAR(parts.rotated_by_distance, 1, 1e-12);
    EXPECT_LT(parts.unrotated_by_distance, 0.5);
}

TEST(ScoreParts, WhatAllKeysHaveInCommonDecidesNothing) {
    Eigen::MatrixXd K = normalNumbers(20, 6, 4);
    const Eigen::MatrixXd Q = normalNumbers(20, 6, 5);
    for (const Eigen::Index feature : {0, 1})
        K.col(feature).setConstant(50);
    const ScoreParts parts = scoreParts(Q, K, 2, 1, 20);
    EXPECT_GT(parts.rotated_mean, 10);
    EXPECT_NEAR(parts.rotated_deviation, 0, 1e-12);
    EXPECT_NEAR(parts.rotated_share, 0, 1e-12);
    EXPECT_TRUE(std::isnan(parts.correlation));
    EXPECT_TRUE(std::isnan(parts.rotated_by_distance));
    EXPECT_EQ(parts.unrotated_decides, 1);
}

}  // namespace
}  // namespace roper
