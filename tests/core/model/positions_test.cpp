#include "core/model/positions/positions.h"

#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/change_from_defaults.h"

namespace roper {
namespace {

/// For every head and distance, and for various settings of the method, the bias in core/methods equals the
/// one that LibTorch adds; methods that declare none add none.
TEST(Positions, BiasesAreThoseOfTheMethodsFile) {
    constexpr std::int64_t T = 23;
    const at::NoGradGuard no_gradients;
    for (const PositionMethod& method : positionMethods()) {
        for (const bool is_causal : {true, false}) {
            Specification s;
            s.model.position = method.name;
            s.model.width = 32;
            s.model.heads = 4;
            s.training.length = T + 1;
            s.training.objective = is_causal ? "causal" : "masked";
            changeFromDefaults(s);
            if (method.check && !method.check(s.model, s.shape()).empty()) continue;
            Parameters parameters(7, at::kDouble);
            const auto positions = makePositions(s, parameters, at::kDouble);
            const at::Tensor added = positions->makePassPositions({T}).distance_bias;
            ASSERT_EQ(added.defined(), method.biases_scores) << method.name;
            ASSERT_EQ(static_cast<bool>(method.bias), method.biases_scores) << method.name;
            if (!method.biases_scores) continue;
            ASSERT_EQ(added.sizes(), (at::IntArrayRef{4, 2 * T - 1})) << method.name;
            for (int head = 0; head < 4; ++head) {
                HeadContext context{head, 4, is_causal, {}, s.model.specific_settings};
                if (method.trains_bias) {
                    const at::Tensor learned = positions->relativeBias().select(1, head).contiguous();
                    context.learned_bias = Eigen::Map<const Eigen::VectorXd>(
                        learned.const_data_ptr<double>(), static_cast<Eigen::Index>(learned.numel()));
                }
                const auto bias = method.bias(context);
                for (int distance = is_causal ? 0 : 1 - static_cast<int>(T); distance < T; ++distance)
                    EXPECT_NEAR(added.index({head, distance + T - 1}).item<double>(), bias(distance), 1e-12)
                        << method.name << ", head " << head << ", distance " << distance;
            }
        }
    }
}

/// A captured step reads the addresses of the tables, also of those that longer ones have replaced.
TEST(Positions, AWarmupChangesTablesInPlace) {
    const at::NoGradGuard no_gradients;
    Specification s;
    s.model.position = "roper";
    s.training.length = 9;
    s.training.value_rotation_warmup = 4;
    Parameters parameters(7, at::kDouble);
    const auto positions = makePositions(s, parameters, at::kDouble);
    const at::Tensor captured = positions->makePassPositions({8}).valueCosSin(0).sine,
                     longer = positions->makePassPositions({30}).valueCosSin(0).sine;
    ASSERT_NE(captured.data_ptr(), longer.data_ptr());
    const at::Tensor keys = positions->makePassPositions({30}).keyCosSin(0).sine.clone();
    for (const std::int64_t step : {0, 2, 4}) {
        positions->setStep(step);
        // The fastest pair rotates by one radian per position, times the strength.
        const double strength = static_cast<double>(step) / 4;
        for (const at::Tensor& sine : {captured, longer})
            EXPECT_NEAR(sine[5][0].item<double>(), std::sin(5 * strength), 1e-12) << step;
    }
    EXPECT_EQ(positions->makePassPositions({30}).valueCosSin(0).sine.data_ptr(), longer.data_ptr());
    EXPECT_TRUE(at::equal(positions->makePassPositions({30}).keyCosSin(0).sine, keys));
}

/// Peng et al. 2023 (arXiv 2309.00071), section 3.4, and transformers 5.24 multiply cos and sin of queries
/// and keys by 0.1·ln s + 1. Values must not be multiplied, or else R(−n) would not undo R(n).
TEST(Positions, AnAttentionFactorLeavesValuesAlone) {
    const at::NoGradGuard no_gradients;
    Specification s;
    s.model.position = "roper";
    s.model.width = 32;
    s.model.heads = 4;
    Parameters parameters(7, at::kDouble);
    const auto positions = makePositions(s, parameters, at::kDouble);
    Scaling yarn;
    yarn.method = ScalingMethod::yarn;
    yarn.factor = 4;
    yarn.original_length = 16;
    positions->rescale(yarn, 64);
    const PassPositions pass = positions->makePassPositions({64});
    const auto isOfLength = [](const CosSin& by, double length) {
        const at::Tensor lengths = (by.cosine.square() + by.sine.square()).sqrt();
        return at::allclose(lengths, at::full_like(lengths, length), 1e-12, 1e-12);
    };
    EXPECT_TRUE(isOfLength(pass.queries.at(0), 0.1 * std::log(4) + 1));
    EXPECT_TRUE(isOfLength(pass.keys.at(0), 0.1 * std::log(4) + 1));
    EXPECT_TRUE(isOfLength(pass.values.at(0), 1));
}

}  // namespace
}  // namespace roper
