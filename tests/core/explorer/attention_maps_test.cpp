#include "core/explorer/attention_maps.h"

#include <gtest/gtest.h>

#include "core/rotary/position_bias.h"
#include "core/rotary/scores.h"
#include "tests/support/random_vectors.h"
#include "tests/support/reference_attention.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

std::vector<std::string> methodNames() {
    std::vector<std::string> names;
    for (const PositionMethod& method : positionMethods())
        if (!method.adds_to_embeddings) names.push_back(method.name);
    return names;
}

ASetup anySetup() {
    ASetup setup;
    setup.head_dim = 2 * *rc::gen::inRange(1, 17);
    setup.base = std::pow(10.0, 1.0 + 0.01 * *rc::gen::inRange(0, 500));
    setup.pairing = *rc::gen::element(Pairing::half, Pairing::interleaved);
    setup.frequency_formula = *rc::gen::element(FrequencyFormula::standard, FrequencyFormula::worked_example);
    setup.rotary_fraction = *rc::gen::element(1.0, 0.75, 0.5);
    setup.value_rotary_fraction = *rc::gen::element(1.0, 0.5);
    setup.tokens = *rc::gen::inRange(1, 12);
    setup.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
    setup.similarity = *rc::gen::element(0.0, 0.5, 1.0);
    setup.causal = *rc::gen::arbitrary<bool>();
    setup.scaling.method = *rc::gen::elementOf(kScalingMethods);
    setup.scaling.original_length = 128;
    setup.method = *rc::gen::elementOf(methodNames());
    if (!setup.positionMethod().biases_scores)
        setup.attention = *rc::gen::element(AttentionKind::softmax, AttentionKind::linear_numerator,
                                            AttentionKind::linear_cosine);
    return sanitized(setup);
}

HeadVectors vectorsOf(const Setup& setup) {
    return randomHeadVectors(setup.tokens, setup.head_dim, setup.seed, setup.similarity);
}

/// A setup in which every mistake has an effect: all features rotate, several tokens, RoPER.
ASetup setupForMistakes(std::uint64_t seed) {
    ASetup setup;
    setup.head_dim = 32;
    setup.tokens = 10;
    setup.seed = seed;
    setup.similarity = 0;
    setup.pairing = seed % 2 == 0 ? Pairing::half : Pairing::interleaved;
    return sanitized(setup);
}

// rotary.md, facts 3 and 7: for every method, shifting all positions changes neither scores nor outputs.
TEST(AttentionMaps, ShiftChangesNothing) {
    EXPECT_TRUE(rc::check([] {
        const ASetup setup = anySetup();
        RC_ASSERT(shiftEffect(setup, vectorsOf(setup), anyPosition()).largest() < 1e-9);
    }));
}

ASetup withRotated(const std::string& rotates, std::uint64_t seed) {
    ASetup setup = setupForMistakes(seed);
    setup.method = "rotary";
    setup.rotates = rotates;
    return sanitized(setup);
}

// Su, kexue.fm/archives/10862: of the sets of rotated tensors, qk, vo and qkvo depend on distances alone.
TEST(AttentionMaps, AShiftShowsWhichSetsOfRotatedTensorsAreRelative) {
    std::vector<std::string> relative;
    for (const std::string& rotates : rotatedTensorsNames()) {
        const ASetup setup = withRotated(rotates, 3);
        const MistakeEffect effect = shiftEffect(setup, vectorsOf(setup), 500);
        if (effect.largest() < 1e-9) relative.push_back(rotates);
        const auto expectChange = [&](double change, bool is_relative) {
            EXPECT_TRUE(is_relative ? change < 1e-9 : change > 1e-2) << rotates << " " << change;
        };
        const RotatedTensors rotated = setup.rotatedTensors();
        expectChange(effect.scores, rotated.scoresAreRelative());
        expectChange(effect.outputs, rotated.scoresAreRelative() && rotated.outputsAreRelative());
    }
    EXPECT_EQ(relative, (std::vector<std::string>{"qk", "qkvo", "vo"}));
}

TEST(AttentionMaps, RopeRoperAndTheirMistakeAreSetsOfRotatedTensors) {
    const std::tuple<const char*, const char*, Mistake> cases[] = {{"rope", "qk", Mistake::none},
                                                                   {"roper", "qkvo", Mistake::none},
                                                                   {"roper", "qkv", Mistake::no_inverse}};
    for (const auto& [method, rotates, mistake] : cases) {
        const ASetup chosen = withRotated(rotates, 4);
        ASetup named = setupForMistakes(4);
        named.method = method;
        named.mistake = mistake;
        const HeadVectors heads = vectorsOf(named);
        const ScoreFormula a = scoreFormula(named), b = scoreFormula(chosen);
        const Eigen::MatrixXd w = weights(a, heads, scores(a, heads));
        EXPECT_EQ(largest(w - weights(b, heads, scores(b, heads))), 0.0) << rotates;
        EXPECT_EQ(largest(outputs(a, heads, w) - outputs(b, heads, w)), 0.0) << rotates;
    }
}

// YaRN multiplies cos and sin, so that it scales only what rotates.
TEST(AttentionMaps, AnAttentionFactorScalesOnlyWhatRotates) {
    const auto scoresOf = [](const std::string& rotates, ScalingMethod method) {
        ASetup setup = withRotated(rotates, 5);
        setup.scaling.method = method;
        setup.scaling.attention_factor = 1.5;
        return scores(scoreFormula(setup), vectorsOf(setup))(0, 0);  // at position 0 all angles are 0
    };
    for (const auto& [rotates, factor] : {std::pair{"qk", 2.25}, {"k", 1.5}, {"vo", 1.0}})
        EXPECT_NEAR(scoresOf(rotates, ScalingMethod::yarn) / scoresOf(rotates, ScalingMethod::none), factor,
                    1e-12)
            << rotates;
}

TEST(AttentionMaps, RopeIsThePlainScore) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup = anySetup();
        setup.method = *rc::gen::element<std::string>("rope", "roper");
        setup.attention = AttentionKind::softmax;
        setup.scaling.attention_factor = 1;  // YaRN's own factor is tested below
        const HeadVectors heads = vectorsOf(setup);
        const double shift = anyPosition();
        RC_ASSERT(largest(scores(scoreFormula(setup), heads, shift) -
                          referenceScores(setup.rotary(), heads.Q, heads.K,
                                          consecutivePositions(setup.tokens, shift))) < 1e-10);
    }));
}

TEST(AttentionMaps, RopeAndRoperHaveTheSameWeightsButNotTheSameOutput) {
    ASetup setup = setupForMistakes(1);
    const HeadVectors heads = vectorsOf(setup);
    const ScoreFormula roper = scoreFormula(setup);
    setup.method = "rope";
    const ScoreFormula rope = scoreFormula(setup);
    const Eigen::MatrixXd a = scores(rope, heads), b = scores(roper, heads);
    EXPECT_EQ(largest(a - b), 0.0);
    const Eigen::MatrixXd w = weights(rope, heads, a);
    EXPECT_GT(largest(outputs(rope, heads, w) - outputs(roper, heads, w)), 1e-2);
    EXPECT_LT(largest(outputs(rope, heads, w) - w * heads.V), 1e-14);
    EXPECT_LT(largest(outputs(roper, heads, w) -
                      referenceMixing(setup.valueRotary(), w, heads.V, consecutivePositions(10))),
              1e-12);
}

TEST(AttentionMaps, ARowIsTheRowOfTheMap) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup = anySetup();
        setup.ablated_pairs = {*rc::gen::inRange(0, setup.pairs())};
        const HeadVectors heads = vectorsOf(setup);
        const ScoreFormula rule = scoreFormula(setup);
        const double shift = *rc::gen::inRange(-20, 20);
        const Eigen::MatrixXd map = scores(rule, heads, shift), w = weights(rule, heads, map);
        const int query = *rc::gen::inRange(0, setup.tokens);
        const Eigen::VectorXd row = scoreRow(rule, heads, query, shift);
        RC_ASSERT(largest(row.transpose() - map.row(query)) < 1e-10);
        RC_ASSERT(largest(weightRow(rule, heads, row, query).transpose() - w.row(query)) < 1e-10);
    }));
}

TEST(AttentionMaps, PartsAddUpToTheScore) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup = anySetup();
        if (*rc::gen::arbitrary<bool>()) setup.ablated_pairs = {0};
        const HeadVectors heads = vectorsOf(setup);
        const ScoreFormula rule = scoreFormula(setup);
        const int query = *rc::gen::inRange(0, setup.tokens), key = *rc::gen::inRange(0, setup.tokens);
        const Eigen::VectorXd parts = scoreContributions(rule, heads, query, key);
        RC_ASSERT(parts.size() == setup.pairs() + 1);
        RC_ASSERT(std::abs(parts.sum() - scores(rule, heads)(query, key)) < 1e-10);
        for (const int pair : setup.ablated_pairs)
            RC_ASSERT(parts[pair] == 0.0);
    }));
}

// By definition, with complex numbers for each pair: Re(q·conj(k)·e^{i(m−n)θ}).
TEST(AttentionMaps, APartIsTheComplexProduct) {
    const ASetup setup = setupForMistakes(3);
    const HeadVectors heads = vectorsOf(setup);
    const Eigen::VectorXd parts = scoreContributions(scoreFormula(setup), heads, 7, 2);
    for (int i = 0; i < setup.pairs(); ++i) {
        const auto [first, second] = featuresOfPair(setup.pairing, 32, i);
        const std::complex<double> q(heads.Q(7, first), heads.Q(7, second)),
            k(heads.K(2, first), heads.K(2, second));
        EXPECT_NEAR(
            parts[i],
            (q * std::conj(k) * std::polar(1.0, 5 * std::pow(10000.0, -i / 16.0))).real() / std::sqrt(32),
            1e-12);
    }
}

TEST(AttentionMaps, RowsOfWeightsAreProbabilities) {
    EXPECT_TRUE(rc::check([] {
        const ASetup setup = anySetup();
        const HeadVectors heads = vectorsOf(setup);
        const ScoreFormula rule = scoreFormula(setup);
        const Eigen::MatrixXd w = weights(rule, heads, scores(rule, heads));
        for (int n = 0; n < setup.tokens; ++n) {
            for (int j = n + 1; setup.causal && j < setup.tokens; ++j)
                RC_ASSERT(w(n, j) == 0.0);
            if (setup.attention == AttentionKind::linear_numerator) continue;  // rows need not sum to 1
            RC_ASSERT(std::abs(w.row(n).sum() - 1) < 1e-12);
            // 1 + cosine is a similarity only if positions do not change lengths, as xPos and YaRN's factor
            // do.
            const bool lengthens = rule.decay || rule.attention_factor != 1;
            if (setup.attention == AttentionKind::linear_cosine && lengthens) continue;
            RC_ASSERT(w.row(n).minCoeff() >= -1e-15);
        }
    }));
}

// Su 2021, linear attention: the numerator uses rotated vectors, the denominator only φ(q) and φ(k).
TEST(AttentionMaps, LinearNumeratorIsTheSourcesFormula) {
    ASetup setup = setupForMistakes(4);
    setup.method = "rope";
    setup.attention = AttentionKind::linear_numerator;
    const HeadVectors heads = vectorsOf(setup);
    const ScoreFormula rule = scoreFormula(setup);
    const Eigen::MatrixXd w = weights(rule, heads, scores(rule, heads));
    const auto phi = [](double x) { return x > 0 ? x + 1 : std::exp(x); };
    const Rotary rotary = setup.rotary();
    const int n = 6;
    double denominator = 0;
    std::vector<double> numerators;
    for (int j = 0; j <= n; ++j) {
        const Eigen::VectorXd q = heads.Q.row(n).unaryExpr(phi), k = heads.K.row(j).unaryExpr(phi);
        numerators.push_back(relativeScore(rotary, q, n, k, j));
        denominator += q.dot(k);
    }
    for (int j = 0; j <= n; ++j)
        EXPECT_NEAR(w(n, j), numerators[static_cast<std::size_t>(j)] / denominator, 1e-12);
}

TEST(AttentionMaps, BiasesAreAddedByDistance) {
    ASetup setup = setupForMistakes(5);
    setup.method = "none";
    const HeadVectors heads = vectorsOf(setup);
    const Eigen::MatrixXd plain = scores(scoreFormula(setup), heads);
    EXPECT_LT(largest(plain - heads.Q * heads.K.transpose() / std::sqrt(32)), 1e-12);
    setup.method = "alibi";
    setup.head = 1;
    const Eigen::MatrixXd alibi = scores(scoreFormula(setup), heads) - plain;
    setup.method = "t5";
    const Eigen::MatrixXd t5 = scores(scoreFormula(setup), heads) - plain;
    const std::vector<double> biases = exampleT5Biases(setup.seed + 1);
    for (int n = 0; n < 10; ++n) {
        for (int j = 0; j <= n; ++j) {
            EXPECT_NEAR(alibi(n, j), -0.25 * (n - j), 1e-12);
            EXPECT_NEAR(t5(n, j), biases[static_cast<std::size_t>(n - j)], 1e-12);
        }
    }
}

TEST(AttentionMaps, XposDecaysWithDistanceAlone) {
    ASetup setup = setupForMistakes(6);
    setup.method = "xpos";
    const HeadVectors heads = vectorsOf(setup);
    const Eigen::VectorXd parts = scoreContributions(scoreFormula(setup), heads, 9, 1, 1000);
    setup.method = "rope";
    const Eigen::VectorXd plain = scoreContributions(scoreFormula(setup), heads, 9, 1);
    for (int i = 0; i < setup.pairs(); ++i)
        EXPECT_NEAR(parts[i], plain[i] * std::pow((2.0 * i + 0.4 * 32) / (1.4 * 32), 8 / 512.0), 1e-10);
}

// transformers multiplies cos and sin by the factor, so only rotating features are scaled.
TEST(AttentionMaps, YarnsFactorMultipliesWhatRotatesBySquare) {
    ASetup setup = setupForMistakes(7);
    setup.rotary_fraction = 0.5;
    setup.scaling.method = ScalingMethod::yarn;
    setup.scaling.factor = 1;
    setup.scaling.attention_factor = 1.5;
    const HeadVectors heads = vectorsOf(setup);
    const Eigen::VectorXd with = scoreContributions(scoreFormula(setup), heads, 6, 2);
    setup.scaling.method = ScalingMethod::none;
    const Eigen::VectorXd without = scoreContributions(scoreFormula(setup), heads, 6, 2);
    for (int i = 0; i < setup.pairs(); ++i)
        EXPECT_NEAR(with[i], (i < 8 ? 2.25 : 1.0) * without[i], 1e-12) << i;
}

// rotary.md, section 6: every mistake leaves a residual, the correct form leaves none.
TEST(Mistakes, EachLeavesAResidualAndTheRightFormNone) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup;
        setup.head_dim = 2 * *rc::gen::inRange(4, 33);
        setup.base = std::pow(10.0, 2.0 + 0.01 * *rc::gen::inRange(0, 400));
        setup.pairing = *rc::gen::element(Pairing::half, Pairing::interleaved);
        setup.scaling.method =
            *rc::gen::element(ScalingMethod::none, ScalingMethod::linear, ScalingMethod::yarn);
        setup.tokens = *rc::gen::inRange(8, 16);
        setup.seed = *rc::gen::inRange<std::uint64_t>(0, 100000);
        setup.similarity = 0;
        setup = sanitized(setup);
        const HeadVectors heads = vectorsOf(setup);
        RC_ASSERT(shiftEffect(setup, heads, 7).largest() < 1e-9);
        RC_ASSERT(formEffect(setup, heads).largest() == 0.0);
        for (const Mistake mistake : kMistakes) {
            setup.mistake = mistake;
            const MistakeEffect shifted = shiftEffect(setup, heads, 7), compared = formEffect(setup, heads);
            RC_ASSERT(compared.largest() > 1e-2);
            RC_ASSERT((isRevealedByShift(mistake) ? shifted.largest() > 1e-2 : shifted.largest() < 1e-9));
            // Mistakes in values do not change the scores.
            RC_ASSERT((compared.scores == 0.0) == affectsValues(mistake));
        }
    }));
}

TEST(Mistakes, AreWhatTheirNamesSay) {
    ASetup setup = setupForMistakes(2);
    const AttentionForm right = setup.form();
    EXPECT_EQ(right.output.angle(3, 5.0), -right.query.angle(3, 5.0));
    const auto with = [&](Mistake mistake) {
        setup.mistake = mistake;
        return setup.form();
    };
    EXPECT_NE(with(Mistake::wrong_pairing).key.rotary.pairing, right.key.rotary.pairing);
    EXPECT_EQ(with(Mistake::wrong_direction).key.angle(2, 4.0), -right.key.angle(2, 4.0));
    EXPECT_EQ(with(Mistake::no_inverse).output.angle(0, 9.0), 0.0);
    EXPECT_EQ(with(Mistake::values_twice).value.angle(1, 3.0), 2 * right.value.angle(1, 3.0));
    EXPECT_EQ(with(Mistake::positions_from_one).query.angle(1, 3.0), right.query.angle(1, 4.0));
    EXPECT_NEAR(with(Mistake::model_width).query.rotary.theta[8], std::pow(10000.0, -16.0 / (8 * 32)), 1e-15);
    EXPECT_EQ(with(Mistake::exponent_without_pair).key.rotary.theta[0], std::pow(10000.0, -32.0));
}

TEST(Mistakes, NeedBothTensorsWhoseRotationsTheySpoil) {
    for (const auto& [rotates, of_scores, of_values] : {std::tuple{"qk", true, false},
                                                        {"qkvo", true, true},
                                                        {"vo", false, true},
                                                        {"qkv", true, false},
                                                        {"k", false, false}}) {
        const RotatedTensors rotated = rotatedTensorsFromName(rotates);
        EXPECT_EQ(appliesTo(Mistake::wrong_direction, rotated), of_scores) << rotates;
        EXPECT_EQ(appliesTo(Mistake::values_twice, rotated), of_values) << rotates;
    }
    ASetup keys_alone;
    keys_alone.method = "rotary";
    keys_alone.rotates = "k";
    keys_alone.mistake = Mistake::wrong_direction;
    EXPECT_EQ(sanitized(keys_alone).mistake, Mistake::none);
}

// rotary.md, fact 13: entries of a key/value cache never change when tokens are appended.
TEST(Appending, NeverChangesEarlierRowsNorTurnedVectors) {
    EXPECT_TRUE(rc::check([] {
        ASetup setup = anySetup();
        setup.causal = true;
        const HeadVectors all = vectorsOf(setup);
        const int kept = *rc::gen::inRange(1, setup.tokens + 1);
        const HeadVectors first{all.Q.topRows(kept), all.K.topRows(kept), all.V.topRows(kept)};
        const ScoreFormula rule = scoreFormula(setup);
        const Eigen::VectorXd positions = consecutivePositions(setup.tokens),
                              fewer = consecutivePositions(kept);
        RC_ASSERT(largest(rule.form.key.apply(all.K, positions).topRows(kept) -
                          rule.form.key.apply(first.K, fewer)) == 0.0);
        RC_ASSERT(largest(rule.form.value.apply(all.V, positions).topRows(kept) -
                          rule.form.value.apply(first.V, fewer)) == 0.0);
        const Eigen::MatrixXd long_outputs = outputs(rule, all, weights(rule, all, scores(rule, all)));
        const Eigen::MatrixXd short_outputs = outputs(rule, first, weights(rule, first, scores(rule, first)));
        RC_ASSERT(largest(long_outputs.topRows(kept) - short_outputs) < 1e-10);
    }));
}

using ASetup = roper::Setup;  // GoogleTest defines a Setup of its own

TEST(DistanceProfile, IsWhatTheMapHoldsAlongItsDiagonals) {
    for (const bool causal : {true, false}) {
        ASetup setup;
        setup.causal = causal;
        const HeadVectors heads = randomHeadVectors(17, setup.head_dim, 3, 0.4);
        const ScoreFormula rule = scoreFormula(setup);
        const Eigen::MatrixXd map = scores(rule, heads, 5);
        const std::vector<DistanceScores> profile = scoresByDistance(rule, heads, 5);
        ASSERT_EQ(profile.size(), causal ? 17U : 33U);
        for (const DistanceScores& at : profile) {
            const Eigen::VectorXd diagonal = map.diagonal(-at.distance);
            EXPECT_NEAR(at.mean, diagonal.mean(), 1e-9) << at.distance;
            EXPECT_NEAR(at.minimum, diagonal.minCoeff(), 1e-9) << at.distance;
            EXPECT_NEAR(at.maximum, diagonal.maxCoeff(), 1e-9) << at.distance;
        }
    }
}

TEST(DistanceProfile, OfTokensThatAreAlikeItIsOneCurve) {
    ASetup setup;
    setup.method = "rope";
    const HeadVectors heads = randomHeadVectors(40, setup.head_dim, 3, 1);
    for (const DistanceScores& at : scoresByDistance(scoreFormula(setup), heads))
        EXPECT_LT(at.maximum - at.minimum, 1e-9) << at.distance;
}

TEST(DistanceProfile, LongTextsAreSampled) {
    const ASetup setup;
    const HeadVectors heads = randomHeadVectors(1000, setup.head_dim, 3, 0.4);
    const auto profile = scoresByDistance(scoreFormula(setup), heads, 0, 10);
    EXPECT_EQ(profile.front().distance, 0);
    EXPECT_EQ(profile.back().distance, 999);
}

}  // namespace

}  // namespace roper
