#include "core/questions/answers.h"

#include <gtest/gtest.h>
#include <cmath>

#include "core/questions/attention_by_distance.h"
#include "core/questions/value_kernel.h"
#include "core/questions/wilson_interval.h"
#include "core/rotary/head_vectors.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_rotary.h"

namespace roper {
namespace {

TEST(LookAnswers, AreReadAsTheyWereWritten) {
    const TextPredictions reading{{5, 7}, {"a", " b"}, {0.1 + 0.2}, 0.3, {{{7, " b", -1.5, 0.25}}, {}}};
    const TextPredictions read = parseAnswer<TextPredictions>(formatAnswer(reading));
    EXPECT_EQ(read.ids, reading.ids);
    EXPECT_EQ(read.tokens, reading.tokens);
    EXPECT_EQ(read.nll, reading.nll);  // bit for bit
    ASSERT_EQ(read.predictions.size(), 2U);
    EXPECT_EQ(read.predictions[0][0].token, " b");
    EXPECT_EQ(read.predictions[0][0].probability, 0.25);
    EXPECT_TRUE(read.predictions[1].empty());

    HeadsAnswer heads{{"x"}, {{1.0, 0.1}}, {HeadReport{}}};
    heads.heads[0].layer = 3;
    heads.heads[0].previous = 0.75;
    heads.heads[0].bands.share = Eigen::Vector2d(0.9, 0.1);
    heads.heads[0].value_norms = Eigen::Vector2d(2, 3);
    const HeadsAnswer again = parseAnswer<HeadsAnswer>(formatAnswer(heads));
    EXPECT_EQ(again.theta, heads.theta);
    EXPECT_EQ(again.heads[0].layer, 3);
    EXPECT_EQ(labelOf(again.heads[0]), "previous token");
    EXPECT_EQ(again.heads[0].bands.share, heads.heads[0].bands.share);
    EXPECT_EQ(again.heads[0].value_norms, heads.heads[0].value_norms);

    const SubsetsAnswer subsets{{"0-7", "8-15"}, {{{1}, 2.5}, {{}, 9}}};
    EXPECT_EQ(parseAnswer<SubsetsAnswer>(formatAnswer(subsets)).subsets[0].kept, std::vector<int>{1});
    const KernelsAnswer kernels{{{{1, 2}, {1, 0.5}}}};
    EXPECT_EQ(parseAnswer<KernelsAnswer>(formatAnswer(kernels)).kernels[0].cosine, kernels.kernels[0].cosine);
    ModelSummary summary;
    summary.name = "tiny";
    summary.theta = {1, 0.5};
    EXPECT_EQ(parseAnswer<ModelSummary>(formatAnswer(summary)).theta, summary.theta);
    const GeneratedText text{{1}, {2}, {"a", "b"}, {0.5}, "b"};
    EXPECT_EQ(parseAnswer<GeneratedText>(formatAnswer(text)).probability, text.probability);
}

TEST(LookAnswers, PartsOfCharactersDoNotBreakThem) {
    const TextPredictions reading{{1}, {std::string("\xE2\x82")}, {}};
    EXPECT_EQ(parseAnswer<TextPredictions>(formatAnswer(reading)).tokens.size(), 1U);
}

TEST(LookAnswers, WhatIsAnotherAnswerIsRefused) {
    for (const char* text : {"", "{}", "[1]", "{\"ids\": 3}", "{\"ids\": [1], \"tokens\": [1]"})
        expectError(ErrorKind::checkpoint, "another version", [&] { parseAnswer<TextPredictions>(text); });
}

/// Softmax of the scores −distance / 4 over the last `window` tokens.
Eigen::MatrixXd decayingWeights(Eigen::Index T, Eigen::Index window) {
    Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(T, T);
    for (Eigen::Index n = 0; n < T; ++n) {
        for (Eigen::Index j = std::max<Eigen::Index>(0, n - window + 1); j <= n; ++j)
            weights(n, j) = std::exp(-0.25 * static_cast<double>(n - j));
        weights.row(n) /= weights.row(n).sum();
    }
    return weights;
}

TEST(AttentionByDistance, FindsScoresThatDependOnDistanceAloneAgainstThatOfTheOwnToken) {
    const AttentionByDistance by_distance = attentionByDistance(decayingWeights(12, 12));
    ASSERT_EQ(by_distance.score.size(), 12U);
    for (std::size_t distance = 0; distance < by_distance.score.size(); ++distance)
        EXPECT_NEAR(by_distance.score[distance], -0.25 * static_cast<double>(distance), 1e-12);
}

TEST(AttentionByDistance, MeansOfWeightsAreOverTheQueriesThatHaveSuchAToken) {
    const Eigen::MatrixXd weights = decayingWeights(5, 5);
    const AttentionByDistance by_distance = attentionByDistance(weights);
    EXPECT_NEAR(by_distance.weight[1], (weights(1, 0) + weights(2, 1) + weights(3, 2) + weights(4, 3)) / 4,
                1e-15);
    EXPECT_NEAR(by_distance.weight[4], weights(4, 0), 1e-15);
}

TEST(AttentionByDistance, HasNoScoreBeyondAWindow) {
    const AttentionByDistance by_distance = attentionByDistance(decayingWeights(8, 3));
    EXPECT_NEAR(by_distance.score[2], -0.5, 1e-12);
    EXPECT_TRUE(std::isnan(by_distance.score[3]));
    EXPECT_EQ(by_distance.weight[3], 0);
}

TEST(AttentionByDistance, CountsBothSidesIfBothAreSeen) {
    Eigen::MatrixXd weights(3, 3);
    weights << 0.5, 0.3, 0.2, 0.1, 0.6, 0.3, 0.4, 0.4, 0.2;
    const AttentionByDistance by_distance = attentionByDistance(weights, /*causal=*/false);
    EXPECT_NEAR(by_distance.weight[0], (0.5 + 0.6 + 0.2) / 3, 1e-15);
    EXPECT_NEAR(by_distance.weight[1], (0.3 + 0.1 + 0.3 + 0.4) / 4, 1e-15);
    EXPECT_NEAR(by_distance.weight[2], (0.2 + 0.4) / 2, 1e-15);
    EXPECT_NEAR(by_distance.score[2], (std::log(0.2 / 0.5) + std::log(0.4 / 0.2)) / 2, 1e-12);
}

TEST(ValueKernel, NormAndDirectionAreThoseOfTheKernelItself) {
    const Eigen::MatrixXd W_O = normalMatrix(20, 8, 1), W_V = normalMatrix(8, 20, 2);
    for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
        for (const int width : {8, 4}) {
            const Rotary rotary = makeRotary(8, pairing, 50, FrequencyFormula::standard, width / 8.0);
            const ValueKernel kernel = valueKernel(W_O, W_V, rotary, 12);
            const Eigen::MatrixXd first = kernelAt(W_O, W_V, rotary, 0);
            EXPECT_LT((first - W_O * W_V).norm(), 1e-12);
            for (int distance = 0; distance < 12; ++distance) {
                const Eigen::MatrixXd K = kernelAt(W_O, W_V, rotary, distance);
                EXPECT_NEAR(kernel.norm[static_cast<std::size_t>(distance)], K.norm(), 1e-9 * K.norm());
                EXPECT_NEAR(kernel.cosine[static_cast<std::size_t>(distance)],
                            K.cwiseProduct(first).sum() / (K.norm() * first.norm()), 1e-9);
            }
            EXPECT_LT(kernel.cosine[3], 0.999) << "the rotation makes no difference here";
        }
}

// The output is Σ a K(n − j) x, equal to attention with rotated values and the inverse rotation.
TEST(ValueKernel, IsWhatRoperComputes) {
    const Eigen::MatrixXd W_O = normalMatrix(10, 6, 3), W_V = normalMatrix(6, 10, 4),
                          X = normalMatrix(5, 10, 5);
    const Rotary rotary = makeRotary(6, Pairing::half, 100);
    const auto rotation = [&](double m) { return rotationMatrix(rotary, m); };
    const Eigen::VectorXd a = Eigen::VectorXd::LinSpaced(5, 0.1, 0.3);
    Eigen::VectorXd by_kernel = Eigen::VectorXd::Zero(10), mixed = Eigen::VectorXd::Zero(6);
    constexpr int n = 4;
    for (int j = 0; j <= n; ++j) {
        by_kernel += a[j] * (kernelAt(W_O, W_V, rotary, n - j) * X.row(j).transpose());
        mixed += a[j] * (rotation(j) * (W_V * X.row(j).transpose()));
    }
    EXPECT_LT((by_kernel - W_O * (rotation(-n) * mixed)).norm(), 1e-12);
}

TEST(ValueKernel, WithoutRotationIsTheSameAtEveryDistance) {
    const ValueKernel kernel =
        valueKernel(normalMatrix(9, 4, 6), normalMatrix(4, 9, 7), Rotary{4, Pairing::half, {}}, 5);
    for (std::size_t distance = 0; distance < 5; ++distance) {
        EXPECT_EQ(kernel.norm[distance], kernel.norm[0]);
        EXPECT_NEAR(kernel.cosine[distance], 1, 1e-12);
    }
}

// scipy.stats.binomtest(k, n).proportion_ci(method="wilson"), scipy 1.10.1
TEST(WilsonInterval, IsThatOfScipy) {
    const auto is = [](std::int64_t successes, std::int64_t trials, double low, double high) {
        const auto [a, b] = wilsonInterval(successes, trials);
        EXPECT_NEAR(a, low, 1e-9);
        EXPECT_NEAR(b, high, 1e-9);
    };
    is(5, 10, 0.236593090512564, 0.7634069094874361);
    is(0, 64, 0.0, 0.05662405979280534);
    is(64, 64, 0.9433759402071946, 1.0);
    is(61, 64, 0.8710034625990631, 0.983930983213707);
    is(1, 3, 0.06149194472039626, 0.7923403991979523);
    EXPECT_EQ(wilsonInterval(0, 0), (std::pair{0.0, 1.0}));
}

}  // namespace

}  // namespace roper
