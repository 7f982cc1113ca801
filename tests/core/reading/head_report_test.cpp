#include "core/questions/head_report.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/reading/head_observer.h"
#include "core/rotary/head_vectors.h"
#include "tests/support/make_rotary.h"

namespace roper {
namespace {

const std::string kFolder = ROPER_PRETRAINED;

/// A text with repeated tokens.
const std::vector<std::int64_t> kTokens = {5,  9, 14, 5, 9, 3, 3, 40, 14, 5, 9,  14,
                                           22, 3, 40, 1, 5, 9, 0, 63, 22, 3, 40, 8};

/// Covariances over keys, pair by pair, by definition.
PairContributions byDefinition(const Eigen::MatrixXd& Q, const Eigen::MatrixXd& K, Pairing pairing, int width,
                               Eigen::Index window, bool causal) {
    Eigen::VectorXd sums = Eigen::VectorXd::Zero(width / 2 + 1);
    for (Eigen::Index n = 0; n < Q.rows(); ++n) {
        const Eigen::Index from = std::max<Eigen::Index>(0, n - window + 1),
                           last = causal ? n : std::min(Q.rows() - 1, n + window - 1), keys = last - from + 1;
        Eigen::MatrixXd parts = Eigen::MatrixXd::Zero(keys, width / 2 + 1);
        for (Eigen::Index j = from; j <= last; ++j) {
            const Eigen::VectorXd products = Q.row(n).cwiseProduct(K.row(j));
            for (int pair = 0; pair < width / 2; ++pair) {
                const PairFeatures of = featuresOfPair(pairing, width, pair);
                parts(j - from, pair) = products[of.first] + products[of.second];
            }
            parts(j - from, width / 2) = products.tail(products.size() - width).sum();
        }
        const Eigen::VectorXd scores = parts.rowwise().sum();
        const Eigen::VectorXd centered = scores.array() - scores.mean();
        for (Eigen::Index pair = 0; pair < parts.cols(); ++pair)
            sums[pair] += (parts.col(pair).array() - parts.col(pair).mean()).matrix().dot(centered) /
                          static_cast<double>(keys);
    }
    PairContributions use;
    use.variance = sums.sum() / static_cast<double>(Q.rows());
    use.share = sums.head(width / 2) / sums.sum();
    use.rest = sums[width / 2] / sums.sum();
    return use;
}

TEST(PairContributions, SplitsTheVarianceOfScoresOverKeys) {
    const Eigen::MatrixXd Q = normalMatrix(40, 12, 1), K = normalMatrix(40, 12, 2);
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
        for (const int width : {12, 6})
            for (const auto& [window, causal] :
                 std::vector<std::pair<Eigen::Index, bool>>{{40, true}, {7, true}, {40, false}, {7, false}}) {
                const Rotary rotary = makeRotary(12, pairing, 100, FrequencyFormula::standard, width / 12.0);
                const PairContributions got = pairContributions(Q, K, rotary, window, causal);
                const PairContributions right = byDefinition(Q, K, pairing, width, window, causal);
                EXPECT_LT((got.share - right.share).cwiseAbs().maxCoeff(), 1e-12);
                EXPECT_NEAR(got.rest, right.rest, 1e-12);
                EXPECT_NEAR(got.variance, right.variance, 1e-10);
                EXPECT_NEAR(got.share.sum() + got.rest, 1, 1e-12);
            }
}

TEST(PairContributions, WhatAllKeysHaveInCommonCountsForNothing) {
    Eigen::MatrixXd K = normalMatrix(30, 8, 3);
    const Eigen::MatrixXd Q = normalMatrix(30, 8, 4);
    K.col(2).setConstant(50);  // pair 2 in the half layout: features 2 and 6
    K.col(6).setConstant(-20);
    EXPECT_NEAR(pairContributions(Q, K, makeRotary(8, Pairing::half), 30).share[2], 0, 1e-9);
}

TEST(HeadObserver, SumsUpWhatTheWeightsSay) {
    for (const std::string family :
         {"llama", "mistral", "gpt_neox"}) {  // grouped-query attention, a window, partial rotation
        Decoder decoder(openPretrainedModel(kFolder + "/" + family));
        const auto T = static_cast<std::int64_t>(kTokens.size());
        const Architecture& model = decoder.architecture();
        const at::Tensor weights = at::zeros({model.layers, model.heads, T, T});
        ForwardHooks recorder;
        recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& part) {
            weights.select(0, layer).narrow(1, first, part.size(1)).narrow(2, 0, part.size(2)).copy_(part);
        };
        decoder.hidden(kTokens, {}, recorder);
        HeadObserver observer(model, kTokens);
        decoder.hidden(kTokens, {}, observer.recorder());
        for (const HeadReport& report : observer.reports()) {
            const auto a = weights.accessor<float, 4>()[report.layer][report.head];
            HeadReport right;
            int repeats = 0, inductions = 0;
            for (std::int64_t n = 1; n < T; ++n) {
                bool repeated = false, induced = false;
                for (std::int64_t j = 0; j <= n; ++j) {
                    const double w = static_cast<double>(a[n][j]);
                    if (w > 0) right.entropy -= w * std::log(w);
                    right.mean_distance += w * static_cast<double>(n - j);
                    right.first += j == 0 ? w : 0;
                    right.self += j == n ? w : 0;
                    right.previous += j == n - 1 ? w : 0;
                    right.local += n - j < 8 ? w : 0;
                    const auto token = [](std::int64_t i) { return kTokens[static_cast<std::size_t>(i)]; };
                    if (j < n && token(j) == token(n)) repeated = true, right.same += w;
                    if (j >= 1 && j < n && token(j - 1) == token(n)) induced = true, right.induction += w;
                }
                repeats += repeated;
                inductions += induced;
            }
            const double queries = static_cast<double>(T - 1);
            EXPECT_NEAR(report.entropy, right.entropy / queries, 1e-5);
            EXPECT_NEAR(report.mean_distance, right.mean_distance / queries, 1e-5);
            EXPECT_NEAR(report.first, right.first / queries, 1e-6);
            EXPECT_NEAR(report.self, right.self / queries, 1e-6);
            EXPECT_NEAR(report.previous, right.previous / queries, 1e-6);
            EXPECT_NEAR(report.local, right.local / queries, 1e-6);
            EXPECT_NEAR(report.same, right.same / repeats, 1e-6);
            EXPECT_NEAR(report.induction, right.induction / inductions, 1e-6);
            EXPECT_NEAR(report.bands.share.sum() + report.bands.rest, 1, 1e-9);
        }
    }
}

TEST(HeadReport, IsNamedByTheFirstRuleThatApplies) {
    HeadReport report;
    EXPECT_EQ(labelOf(report), "mixed");
    report.slow_share = 0.6;
    EXPECT_EQ(labelOf(report), "content");
    report.previous = 0.5;
    EXPECT_EQ(labelOf(report), "previous token");
    EXPECT_EQ(evidenceOf(report), 0.5);
    report.induction = 0.41;
    EXPECT_EQ(labelOf(report), "induction");
}

}  // namespace
}  // namespace roper
