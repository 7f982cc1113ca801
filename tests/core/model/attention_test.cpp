#include "core/model/attention.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

#include "core/model/attention_backend.h"
#include "core/model/positions/positions.h"
#include "core/model/transformer.h"
#include "core/operators/linear_attention.h"
#include "core/rotary/position_bias.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

double largestDifference(const at::Tensor& a, const at::Tensor& b) {
    return (a - b).abs().max().item<double>();
}

/// q, k, v as a layer passes them, with the additional inputs of linear_numerator.
Heads someHeads(AttentionKind kind, std::int64_t T, at::ScalarType dtype) {
    const auto make = [&] { return at::randn({2, 3, T, 8}, dtype); };
    const at::Tensor q = featureMap(kind, make()), k = featureMap(kind, make());
    return {q, k, make(), q, k};
}

constexpr std::array kLinearKinds = {AttentionKind::linear_numerator, AttentionKind::linear_cosine};

// Several chunks of running sums; the last one is not full.
TEST(LinearAttention, RunningSumsEqualTheQuadraticForm) {
    at::manual_seed(1);
    for (const AttentionKind kind : kLinearKinds)
        for (const bool causal : {true, false})
            for (const std::int64_t T : {1, 64, 65, 200})
                for (const auto dtype : {at::kDouble, at::kFloat}) {
                    const Heads heads = someHeads(kind, T, dtype);
                    const AttentionMask mask{causal, {}, {}};
                    const at::Tensor quadratic = at::matmul(weights(kind, heads, mask), heads.v);
                    EXPECT_LT(largestDifference(weightedSum(kind, heads, mask), quadratic),
                              dtype == at::kDouble ? 1e-12 : 1e-5);
                }
}

// docs/run-folder.md, "Where bfloat16 rounds", step by step for one query.
TEST(RoundedAttention, RoundsAgainstTheLargestScoreSoFar) {
    at::manual_seed(5);
    const std::int64_t T = 300, n = T - 1;
    Heads heads = someHeads(AttentionKind::softmax, T, at::kFloat);
    heads.q.mul_(4);  // separates the largest score from the others
    const RoundedAttention got = roundedAttention(heads, AttentionMask{true, {}, {}});
    const auto bf = [](const at::Tensor& x) { return x.to(at::kBFloat16).to(at::kFloat); };
    const double log2_of_e = std::log2(std::exp(1.0));
    const at::Tensor q = bf(heads.q * (log2_of_e / std::sqrt(8.0))), k = bf(heads.k), v = bf(heads.v);
    double largest_change = 0;
    for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t h = 0; h < 3; ++h) {
            const at::Tensor s = at::mv(k[b][h], q[b][h][n]);
            float m = -INFINITY;
            at::Tensor sum = at::zeros({}), mixed = at::zeros({8});
            for (std::int64_t j = 0; j < T; ++j) {
                if (j % 128 == 0) {
                    const float next = std::max(m, s.slice(0, j, std::min(j + 128, T)).max().item<float>());
                    const float shrunk = std::exp2(m - next);
                    sum = sum * shrunk;
                    mixed = mixed * shrunk;
                    m = next;
                }
                const at::Tensor p = at::exp2(s[j] - m);
                sum = sum + p;
                mixed = mixed + bf(p) * v[b][h][j];
            }
            EXPECT_LT(largestDifference(got.mixed[b][h][n], mixed / sum), 2e-6);
            const at::Tensor whole = at::exp2(s - s.max());
            largest_change = std::max(
                largest_change, largestDifference(mixed / sum, at::mv(v[b][h].t(), bf(whole)) / whole.sum()));
        }
    EXPECT_GT(largest_change, 1e-5) << "the blocks make no difference here: this test could not fail";
}

TEST(LinearAttention, GradientsEqualThoseOfTheQuadraticForm) {
    at::manual_seed(2);
    const auto make = [] { return at::randn({2, 2, 150, 6}, at::kDouble).requires_grad_(true); };
    const at::Tensor q = make(), k = make(), v = make(), g = at::randn({2, 2, 150, 6}, at::kDouble);
    const auto gradients = [&](const at::Tensor& out) {
        (out * g).sum().backward();
        std::vector<at::Tensor> all;
        for (const at::Tensor& x : {q, k, v}) {
            all.push_back(x.grad().clone());
            x.mutable_grad().reset();
        }
        return all;
    };
    const auto running = gradients(causalProduct(q, k, v));
    const auto quadratic = gradients(at::matmul(at::matmul(q, k.mT()).tril(), v));
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_LT(largestDifference(running[i], quadratic[i]), 1e-10);
}

TEST(LinearAttention, CosineWeightsAreAProbabilityNumeratorOnesNeedNotBe) {
    at::manual_seed(3);
    Specification s;
    s.model.position = "rope";
    Parameters parameters(0, at::kDouble);
    const CosSin cos_sin = makePositions(s, parameters, at::kDouble)->makePassPositions({50}).queryCosSin(0);
    const AttentionMask mask{true, {}, {}};
    for (const AttentionKind kind : kLinearKinds) {
        const at::Tensor q = featureMap(kind, at::randn({1, 2, 50, 32}, at::kDouble)),
                         k = featureMap(kind, at::randn({1, 2, 50, 32}, at::kDouble));
        const auto rotated = [&](const at::Tensor& x) {
            return rotate(x, cos_sin.cosine, cos_sin.sine, Pairing::half);
        };
        const at::Tensor found = weights(kind, {rotated(q), rotated(k), {}, q, k}, mask);
        const double off = largestDifference(found.sum(-1), at::ones({1, 2, 50}, at::kDouble));
        if (kind == AttentionKind::linear_cosine) {
            EXPECT_GE(found.min().item<double>(), 0.0);
            EXPECT_LT(off, 1e-12);
        } else {
            EXPECT_LT(found.min().item<double>(), 0.0);  // rotated features may have negative products
            EXPECT_GT(off, 0.1);
            EXPECT_GT(denominators(kind, {rotated(q), rotated(k), {}, q, k}, mask).min().item<double>(), 0.0);
        }
    }
}

/// A line of /proc/self/status, in MiB.
double mebibytes(const std::string& name) {
    std::ifstream status("/proc/self/status");
    std::string key;
    double kibibytes = 0;
    while (status >> key >> std::ws) {
        if (key == name + ":" && status >> kibibytes) return kibibytes / 1024;
        std::getline(status, key);
    }
    return 0;
}

// T = 16,384 and 4 heads of 16 features: the attention weights of the quadratic form alone would take 4 GiB.
// Forward and backward must stay within 400 MiB; q, k, v, their gradients and the sums of k take 4 MiB each.
TEST(LinearAttention, MemoryGrowsWithTheLengthAlone) {
    constexpr std::int64_t T = 16384;
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    const double before = mebibytes("VmRSS");
    for (const AttentionKind kind : kLinearKinds) {
        const auto make = [] { return at::randn({1, 4, T, 16}).requires_grad_(true); };
        const at::Tensor q = make(), k = make(), v = make();
        const at::Tensor fq = featureMap(kind, q), fk = featureMap(kind, k);
        weightedSum(kind, {fq, fk, v, fq, fk}, {true, {}, {}}).sum().backward();
        EXPECT_TRUE(q.grad().isfinite().all().item<bool>());
    }
    ASSERT_GT(before, 0);
    EXPECT_LT(mebibytes("VmHWM") - before, 400);
}

Specification withMethod(const std::string& position) {
    Specification s;
    s.model.position = position;
    s.model.width = 16;
    s.model.layers = 2;
    s.model.heads = 2;
    s.model.feed_forward = 16;
    s.training.length = 12;
    return s;
}

TEST(Positions, ALearnedTableSaysWhereItEnds) {
    const at::NoGradGuard no_gradients;
    Transformer model(withMethod("learned"), 5, at::kCPU);
    EXPECT_NO_THROW(model.forward(at::zeros({1, 12}, at::kLong)));
    expectError(ErrorKind::usage, "learned table of 12 positions and cannot read a text of 13 tokens", [&] {
        model.forward(at::zeros({1, 13}, at::kLong));
    });
    for (const PositionMethod& method : positionMethods()) {
        if (method.max_length) continue;
        Transformer other(withMethod(method.name), 5, at::kCPU);
        EXPECT_NO_THROW(other.forward(at::zeros({1, 100}, at::kLong))) << method.name;
    }
}

// In a text that repeats one token, all values are equal, so attention weights alone cannot distinguish
// positions. RoPER can, because it rotates values by distance.
TEST(Positions, OnlyAbsoluteEncodingsAndRotatedValuesShowInAConstantText) {
    at::manual_seed(4);
    const at::NoGradGuard no_gradients;
    for (const PositionMethod& method : positionMethods()) {
        Specification s = withMethod(method.name);
        s.model.layers = 1;
        Transformer model(s, 5, at::kCPU, at::kDouble);
        const at::Tensor logits = model.forward(at::ones({1, 12}, at::kLong))[0];
        const double change = largestDifference(logits[0], logits[11]);
        if (method.adds_to_embeddings || method.rotatesValues())
            EXPECT_GT(change, 1e-3) << method.name;
        else
            EXPECT_LT(change, 1e-12) << method.name;
    }
}

TEST(Positions, BiasesFollowFromTheDistanceAlone) {
    const at::NoGradGuard no_gradients;
    for (const PositionMethod& method : positionMethods()) {
        if (!method.biases_scores) continue;
        const Specification s = withMethod(method.name);
        Parameters parameters(3, at::kDouble);
        const auto positions = makePositions(s, parameters, at::kDouble);
        const at::Tensor by_distance = positions->makePassPositions({40}).distance_bias;  // [H, 2T − 1]
        ASSERT_EQ(by_distance.sizes().vec(), (std::vector<std::int64_t>{2, 79}));
        const at::Tensor bias =
            sequenceMask({.causal = false}, 40, by_distance, at::kFloat).added;  // [1, H, T, T]
        ASSERT_EQ(bias.sizes().vec(), (std::vector<std::int64_t>{1, 2, 40, 40}));
        for (std::int64_t head = 0; head < 2; ++head)
            for (std::int64_t n = 0; n < 40; ++n)
                for (std::int64_t j = 0; j <= n; ++j)
                    EXPECT_EQ(bias[0][head][n][j].item<double>(),
                              by_distance[head][n - j + 39].item<double>());
        // A single new token per sequence gets the same row.
        const at::Tensor one = positions->makePassPositions({40, at::tensor({39, 7}, at::kLong)}).bias;
        EXPECT_TRUE(at::equal(one[0].squeeze(1), bias[0].select(1, 39)));
        EXPECT_TRUE(at::equal(one[1].squeeze(1).narrow(1, 0, 8), bias[0].select(1, 7).narrow(1, 0, 8)));
    }
}

// Compares scaled frequencies with core/rotary, both fixed and trained.
TEST(Positions, ScalingChangesTheFrequenciesForLongerTexts) {
    const at::NoGradGuard no_gradients;
    constexpr std::int64_t T = 24;
    for (const char* frequencies : {"fixed", "trained"}) {
        Specification s = withMethod("roper");
        s.model.frequencies = frequencies;
        for (const ScalingMethod scaling_method : kScalingMethods) {
            Scaling scaling;
            scaling.method = scaling_method;
            scaling.factor = 2;
            scaling.original_length = 12;
            Parameters parameters(3, at::kDouble);
            const auto method = makePositions(s, parameters, at::kDouble);
            const at::Tensor usual = method->makePassPositions({T}).queryCosSin(1).cosine.clone();
            method->rescale(scaling, T);
            const ScaledFrequencies expected =
                scaledFrequencies(8, s.model.base, FrequencyFormula::standard, scaling, T);
            const PassPositions pass = method->makePassPositions({T});
            for (std::int64_t m = 0; m < T; ++m)
                for (std::int64_t i = 0; i < 4; ++i) {
                    const double angle = static_cast<double>(m) * expected.theta[i];
                    EXPECT_NEAR(pass.queryCosSin(1).cosine[m][i].item<double>(),
                                expected.attention_factor * std::cos(angle), 1e-12);
                    // Values keep their length: YaRN's factor applies only to scores.
                    EXPECT_NEAR(pass.valueCosSin(1).sine[m][i].item<double>(), std::sin(angle), 1e-12);
                }
            method->rescale({}, T);
            EXPECT_LT(largestDifference(method->makePassPositions({T}).queryCosSin(1).cosine, usual), 1e-15);
        }
    }
    Parameters parameters(3, at::kDouble);
    const auto alibi = makePositions(withMethod("alibi"), parameters, at::kDouble);
    Scaling linear;
    linear.method = ScalingMethod::linear;
    expectError(ErrorKind::usage, "no frequencies", [&] { alibi->rescale(linear, 24); });
}

// A captured step keeps reading the memory with which it was captured.
TEST(Positions, KeepsTablesThatALongerTextHasOutgrown) {
    for (const char* position : {"rope", "roper", "sinusoidal"}) {
        Specification s = withMethod(position);
        s.training.length = 12;
        Parameters parameters(3, at::kFloat);
        const auto method = makePositions(s, parameters, at::kFloat);
        const auto tableOf = [](const PassPositions& pass) {
            return pass.embedding.defined() ? pass.embedding : pass.queryCosSin(0).cosine;
        };
        const void* const address = tableOf(method->makePassPositions({12})).const_data_ptr();
        EXPECT_EQ(tableOf(method->makePassPositions({5})).const_data_ptr(), address)
            << position << ": a shorter text";
        const c10::StorageImpl* const storage =
            tableOf(method->makePassPositions({12})).storage().unsafeGetStorageImpl();
        const auto alive = c10::weak_intrusive_ptr<c10::StorageImpl>(
            c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(const_cast<c10::StorageImpl*>(storage)));
        method->makePassPositions({40});
        EXPECT_FALSE(alive.expired()) << position << ": a longer text";
    }
}

// Which kernel is fastest depends on the device. In any case it must come first, and none may be excluded.
TEST(ChooseAttention, PrefersTheFastest) {
    const std::string said = selectAttentionBackend({1, 2, 256, 32});
    const bool flash = said.find("attention by LibTorch's flash (") == 0;
    EXPECT_TRUE(flash || said.find("attention by LibTorch's math (") == 0) << said;
    EXPECT_NE(said.find("flash "), std::string::npos) << said;
    EXPECT_NE(said.find("math "), std::string::npos) << said;
    EXPECT_EQ(said.find("cuDNN "), std::string::npos) << "not on a CPU: " << said;
    EXPECT_EQ(at::globalContext().sDPPriorityOrder()[0],
              flash ? at::SDPBackend::flash_attention : at::SDPBackend::math);
    EXPECT_TRUE(at::globalContext().userEnabledFlashSDP());
    EXPECT_TRUE(at::globalContext().userEnabledMathSDP());
    for (const bool trained : {true, false}) {
        const at::Tensor mask = at::randn({1, 2, 16, 16}).requires_grad_(trained);
        EXPECT_NE(
            selectAttentionBackend({3, 2, 16, 8, at::kFloat, at::kCPU, true, mask}).find("attention by"),
            std::string::npos);
    }
}

}  // namespace
}  // namespace roper
