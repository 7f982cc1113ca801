#include "core/questions/head_report.h"

#include <algorithm>
#include <array>

namespace roper {
namespace {

/// Sums of features by pair; the last element sums the features that do not rotate.
Eigen::VectorXd byPair(const Eigen::VectorXd& features, const Rotary& rotary) {
    Eigen::VectorXd sums(rotary.pairs() + 1);
    for (int pair = 0; pair < rotary.pairs(); ++pair)
        sums[pair] = features[rotary.features(pair).first] + features[rotary.features(pair).second];
    sums[rotary.pairs()] = features.head(rotary.first).sum() +
                           features.tail(features.size() - rotary.first - rotary.rotatedWidth()).sum();
    return sums;
}

}  // namespace

PairContributions pairContributions(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, const Rotary& rotary,
                                    Eigen::Index window, bool causal) {
    const Eigen::Index T = Q.rows(), d = Q.cols();
    // Σ k kᵀ and Σ k over the visible keys, updated by one added and one removed key at a time.
    Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(d, d);
    Eigen::VectorXd sum = Eigen::VectorXd::Zero(d), covariances = Eigen::VectorXd::Zero(d);
    const auto add = [&](Eigen::Index key, double sign) {
        const Eigen::VectorXd k = K.row(key);
        squares.selfadjointView<Eigen::Lower>().rankUpdate(k, sign);
        sum += sign * k;
    };
    window = std::min(window, T);
    const Eigen::Index ahead = causal ? 0 : window - 1;  // number of visible keys after the query
    for (Eigen::Index key = 0; key < ahead; ++key)
        add(key, 1);
    for (Eigen::Index n = 0; n < T; ++n) {
        if (n + ahead < T) add(n + ahead, 1);
        if (n >= window) add(n - window, -1);
        const double keys = static_cast<double>(std::min(n + 1, window) + std::min(ahead, T - 1 - n));
        const Eigen::VectorXd q = Q.row(n), mean = sum / keys;
        const Eigen::VectorXd with_score =
            (squares.selfadjointView<Eigen::Lower>() * q) / keys - mean * mean.dot(q);  // cov_j(k_j, s_nj)
        covariances += q.cwiseProduct(with_score);
    }
    const Eigen::VectorXd of_pairs = byPair(covariances, rotary);
    const double variance = of_pairs.sum();
    PairContributions contributions;
    contributions.variance = variance / static_cast<double>(T);
    contributions.share = Eigen::VectorXd::Zero(rotary.pairs());
    if (!(variance > 0)) return contributions;
    contributions.share = of_pairs.head(rotary.pairs()) / variance;
    contributions.rest = of_pairs[rotary.pairs()] / variance;
    return contributions;
}

namespace {

/// A head has this label if its measure is at least `least` and no earlier rule applies.
struct Rule {
    const char* label;
    double HeadReport::*measure;
    double least;
};

constexpr std::array kRules = {
    Rule{"induction", &HeadReport::induction, 0.4}, Rule{"previous token", &HeadReport::previous, 0.4},
    Rule{"same token", &HeadReport::same, 0.4},     Rule{"first token", &HeadReport::first, 0.5},
    Rule{"local", &HeadReport::local, 0.7},         Rule{"content", &HeadReport::slow_share, 0.5}};

const Rule* ruleOf(const HeadReport& report) {
    for (const Rule& rule : kRules)
        if (report.*rule.measure >= rule.least) return &rule;
    return nullptr;
}

}  // namespace

std::string labelOf(const HeadReport& report) {
    const Rule* const rule = ruleOf(report);
    return rule == nullptr ? "mixed" : rule->label;
}

double evidenceOf(const HeadReport& report) {
    const Rule* const rule = ruleOf(report);
    return rule == nullptr ? 0 : report.*rule->measure;
}

}  // namespace roper
