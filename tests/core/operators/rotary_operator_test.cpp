#include "core/operators/rotary_operator.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/support/make_rotary.h"

namespace roper {
namespace {

struct Case {
    Pairing pairing;
    double fraction;
    Direction direction;
};

const Case kCases[] = {{Pairing::half, 1.0, Direction::forward},
                       {Pairing::half, 0.5, Direction::inverse},
                       {Pairing::interleaved, 1.0, Direction::forward},
                       {Pairing::interleaved, 0.5, Direction::inverse},
                       {Pairing::half, 0.0, Direction::forward}};

constexpr std::int64_t B = 2, H = 3, T = 5, d = 8;

at::Tensor apply(const at::Tensor& x, const CosSin& table, Pairing pairing, Direction direction) {
    return rotate(x, table.cosine.narrow(0, 0, x.size(2)), table.sine.narrow(0, 0, x.size(2)), pairing,
                  direction);
}

/// The same by core/rotary, row by row.
at::Tensor byEigen(const at::Tensor& x, const Rotary& rotary, Direction direction) {
    at::Tensor out = at::empty_like(x, at::MemoryFormat::Contiguous);
    for (std::int64_t b = 0; b < x.size(0); ++b)
        for (std::int64_t h = 0; h < x.size(1); ++h)
            for (std::int64_t t = 0; t < x.size(2); ++t) {
                Eigen::VectorXd row(d);
                for (std::int64_t k = 0; k < d; ++k)
                    row[k] = x.index({b, h, t, k}).item<double>();
                const double m = static_cast<double>(t);
                const Eigen::VectorXd rotated =
                    roper::rotate(rotary, row, direction == Direction::forward ? m : -m);
                for (std::int64_t k = 0; k < d; ++k)
                    out.index({b, h, t, k}).fill_(rotated[k]);
            }
    return out;
}

TEST(RotaryOperator, EqualsCoreRotary) {
    at::manual_seed(1);
    for (const Case& c : kCases) {
        const Rotary rotary = makeRotary(d, c.pairing, 100.0, FrequencyFormula::standard, c.fraction);
        for (const auto dtype : {at::kDouble, at::kFloat}) {
            const CosSin table = makeCosSinTable(rotary, 0, 16, dtype);
            // As in the model: a slice of the joint q, k, v product, with heads next to features.
            const at::Tensor x = at::randn({B, T, 3, H, d}, dtype).permute({2, 0, 3, 1, 4}).select(0, 1);
            const at::Tensor difference =
                apply(x, table, c.pairing, c.direction) - byEigen(x, rotary, c.direction);
            EXPECT_LT(difference.abs().max().item<double>(), dtype == at::kDouble ? 1e-14 : 1e-6);
        }
    }
}

TEST(RotaryOperator, TensorOperationsAgreeWithTheCpuKernel) {
    at::manual_seed(2);
    for (const Case& c : kCases) {
        const Rotary rotary = makeRotary(d, c.pairing, 100.0, FrequencyFormula::standard, c.fraction);
        const at::Tensor x = at::randn({B, H, T, d}, at::kDouble);
        // A table of another type takes the same path as on a GPU.
        const at::Tensor plain = apply(x, makeCosSinTable(rotary, 0, T, at::kDouble), c.pairing, c.direction);
        CosSin single = makeCosSinTable(rotary, 0, T, at::kDouble);
        single.cosine = single.cosine.to(at::kFloat);
        single.sine = single.sine.to(at::kFloat);
        EXPECT_LT((apply(x, single, c.pairing, c.direction) - plain).abs().max().item<double>(), 1e-6);
    }
}

TEST(RotaryOperator, GradientIsTheFiniteDifference) {
    at::manual_seed(3);
    constexpr double h = 1e-5;
    for (const Case& c : kCases) {
        const CosSin table = makeCosSinTable(
            makeRotary(d, c.pairing, 100.0, FrequencyFormula::standard, c.fraction), 0, T, at::kDouble);
        const at::Tensor x = at::randn({B, H, T, d}, at::kDouble).requires_grad_(true);
        const at::Tensor weights = at::randn({B, H, T, d}, at::kDouble);
        const auto value = [&](const at::Tensor& at_x) {
            return (apply(at_x, table, c.pairing, c.direction).sin() * weights).sum();
        };
        value(x).backward();
        for (int probe = 0; probe < 12; ++probe) {
            const std::int64_t i = at::randint(x.numel(), {1}).item<std::int64_t>();
            at::Tensor nudge = at::zeros({x.numel()}, at::kDouble);
            nudge[i] = h;
            const at::Tensor plain = x.detach();
            const double slope =
                (value(plain + nudge.view_as(plain)) - value(plain - nudge.view_as(plain))).item<double>() /
                (2 * h);
            EXPECT_NEAR(x.grad().flatten()[i].item<double>(), slope, 1e-8);
        }
    }
}

TEST(RotaryOperator, BackUndoesForward) {
    const CosSin table = makeCosSinTable(makeRotary(d, Pairing::half), 0, T, at::kDouble);
    const at::Tensor x = at::randn({B, H, T, d}, at::kDouble);
    EXPECT_LT(
        (apply(apply(x, table, Pairing::half, Direction::forward), table, Pairing::half, Direction::inverse) -
         x)
            .abs()
            .max()
            .item<double>(),
        1e-14);
}

TEST(RotaryOperator, EachSequenceMayHavePositionsOfItsOwn) {
    const CosSin table = makeCosSinTable(makeRotary(d, Pairing::interleaved), 0, 16, at::kDouble);
    const at::Tensor x = at::randn({2, H, 1, d}, at::kDouble);
    const at::Tensor positions = at::tensor({3, 11}, at::kLong);
    const at::Tensor rotated =
        rotate(x, table.cosine.index_select(0, positions).unsqueeze(1),
               table.sine.index_select(0, positions).unsqueeze(1), Pairing::interleaved);
    for (const std::int64_t b : {0, 1}) {
        const std::int64_t m = positions[b].item<std::int64_t>();
        const at::Tensor alone = rotate(x.narrow(0, b, 1), table.cosine.narrow(0, m, 1),
                                        table.sine.narrow(0, m, 1), Pairing::interleaved);
        EXPECT_EQ((rotated.narrow(0, b, 1) - alone).abs().max().item<double>(), 0.0);
    }
}

TEST(RotaryOperator, RefusesATableThatDoesNotFit) {
    const CosSin table = makeCosSinTable(makeRotary(16, Pairing::half), 0, T, at::kDouble);
    EXPECT_THROW(apply(at::randn({B, H, T, d}, at::kDouble), table, Pairing::half, Direction::forward),
                 c10::Error);
}

}  // namespace
}  // namespace roper
