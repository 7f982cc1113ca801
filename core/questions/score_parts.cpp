#include "core/questions/score_parts.h"

#include <algorithm>
#include <cmath>

namespace roper {
namespace {

/// Accumulates the deviations of one part of the scores from each query's mean, by distance n − j.
class DistanceProfile {
  public:
    explicit DistanceProfile(Eigen::Index tokens)
        : tokens_(tokens),
          sums_(Eigen::VectorXd::Zero(2 * tokens)),
          weights_(Eigen::VectorXd::Zero(2 * tokens)) {}

    /// @param deviations  of the keys from `first` on
    void add(Eigen::Index query, Eigen::Index first, const Eigen::VectorXd& deviations) {
        const double weight = 1 / static_cast<double>(deviations.size());
        for (Eigen::Index i = 0; i < deviations.size(); ++i) {
            const Eigen::Index distance = query - (first + i) + tokens_;
            sums_[distance] += weight * deviations[i];
            weights_[distance] += weight;
        }
        variance_ += deviations.squaredNorm() * weight;
    }

    double variance() const { return variance_; }  ///< sum over queries

    /// Share of the variance that the mean at each distance explains.
    double explained() const {
        double sum = 0;
        for (Eigen::Index i = 0; i < sums_.size(); ++i)
            if (weights_[i] > 0) sum += sums_[i] * sums_[i] / weights_[i];
        return sum / variance_;
    }

  private:
    Eigen::Index tokens_;
    Eigen::VectorXd sums_, weights_;
    double variance_ = 0;
};

Eigen::Index largest(const Eigen::VectorXd& numbers) {
    Eigen::Index at = 0;
    numbers.maxCoeff(&at);
    return at;
}

Eigen::VectorXd deviations(const Eigen::VectorXd& numbers) {
    return numbers.array() - numbers.mean();
}

}  // namespace

ScoreParts scoreParts(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, Eigen::Index rotated, double scale,
                      Eigen::Index window, bool causal) {
    const Eigen::Index T = Q.rows(), unrotated = Q.cols() - rotated;
    ScoreParts parts;
    DistanceProfile of_rotated(T), of_unrotated(T);
    double covariance = 0, queries = 0;
    for (Eigen::Index n = 0; n < T; ++n) {
        const Eigen::Index first = std::max<Eigen::Index>(0, n - window + 1),
                           end = causal ? n + 1 : std::min(T, n + window), keys = end - first;
        if (keys < 2) continue;
        const Eigen::VectorXd a =
            scale * (K.block(first, 0, keys, rotated) * Q.row(n).head(rotated).transpose());
        const Eigen::VectorXd b =
            scale * (K.block(first, rotated, keys, unrotated) * Q.row(n).tail(unrotated).transpose());
        const Eigen::VectorXd of_a = deviations(a), of_b = deviations(b);
        of_rotated.add(n, first, of_a);
        of_unrotated.add(n, first, of_b);
        covariance += of_a.dot(of_b) / static_cast<double>(keys);
        parts.rotated_mean += a.cwiseAbs().mean();
        parts.unrotated_mean += b.cwiseAbs().mean();
        const Eigen::Index chosen = largest(a + b);
        parts.rotated_decides += chosen == largest(a) ? 1 : 0;
        parts.unrotated_decides += chosen == largest(b) ? 1 : 0;
        ++queries;
    }
    for (double* const sum :
         {&parts.rotated_mean, &parts.unrotated_mean, &parts.rotated_decides, &parts.unrotated_decides})
        *sum /= queries;
    const double of_a = of_rotated.variance(), of_b = of_unrotated.variance(),
                 all = of_a + of_b + 2 * covariance;
    parts.rotated_deviation = std::sqrt(of_a / queries);
    parts.unrotated_deviation = std::sqrt(of_b / queries);
    // A part that is the same for all keys deviates by rounding alone.
    constexpr double kRounding = 1e-12;
    const bool a_varies = parts.rotated_deviation > kRounding * parts.rotated_mean,
               b_varies = parts.unrotated_deviation > kRounding * parts.unrotated_mean;
    parts.rotated_share = a_varies || b_varies ? (of_a + covariance) / all : NAN;
    parts.correlation = a_varies && b_varies ? covariance / std::sqrt(of_a * of_b) : NAN;
    parts.rotated_by_distance = a_varies ? of_rotated.explained() : NAN;
    parts.unrotated_by_distance = b_varies ? of_unrotated.explained() : NAN;
    return parts;
}

}  // namespace roper
