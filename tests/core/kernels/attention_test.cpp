#include "core/kernels/attention.h"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "core/rotary/rotation.h"
#include "tests/support/make_rotary.h"

namespace roper {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Numbers = std::vector<float>;

struct Case {
    std::size_t T, d;
    double fraction = 1, value_fraction = 1;
    bool causal = true, bias = false;
    Pairing pairing = Pairing::half;
    double size = 1;  ///< scale of the numbers in q, k and v
    std::size_t B = 1, H = 2;
    double rotation_size = 1;  ///< scale of the cosines and sines of queries and keys (YaRN)
    bool bfloat16 = false;
    std::size_t kv_heads = 0;  ///< 0: H
    bool shared_kv = false;    ///< values are the keys, and rotate as these
    bool rotates_back = true;  ///< outputs, by the rotation of values
    bool sinks = false;
    double mean_sink = 0;
    std::size_t window = 0;

    std::size_t K() const { return kv_heads > 0 ? kv_heads : H; }
    std::size_t rows() const { return H + (shared_kv ? 1 : 2) * K(); }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << "T " << c.T << ", d " << c.d << ", rotated " << c.fraction << " and " << c.value_fraction
               << (c.causal ? ", causal" : ", full") << (c.bias ? ", biased" : "")
               << (c.pairing == Pairing::half ? ", halves" : ", neighbors") << ", size " << c.size << ", "
               << c.K() << " of " << c.H << (c.shared_kv ? " shared" : "") << " key/value heads"
               << (c.rotates_back ? "" : ", not rotated back") << (c.sinks ? ", sinks" : "") << ", window "
               << c.window << (c.bfloat16 ? ", bfloat16" : "");
}

Numbers randomNumbers(std::size_t count, double size, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> normal(0, size);
    Numbers numbers(count);
    for (float& number : numbers)
        number = static_cast<float>(normal(generator));
    return numbers;
}

std::vector<BFloat16> rounded(const Numbers& numbers) {
    std::vector<BFloat16> made(numbers.size());
    std::transform(numbers.begin(), numbers.end(), made.begin(), toBFloat16);
    return made;
}

Numbers widened(const std::vector<BFloat16>& numbers) {
    Numbers made(numbers.size());
    std::transform(numbers.begin(), numbers.end(), made.begin(), toFloat);
    return made;
}

/// Cosines and sines in the kernel's layout.
struct Table {
    Table(std::size_t T, std::size_t d, double fraction, Pairing pairing, double size = 1)
        : rotary(makeRotary(static_cast<int>(d), pairing, 10000.0, FrequencyFormula::standard, fraction)) {
        for (std::size_t m = 0; m < T; ++m)
            for (int i = 0; i < rotary.pairs(); ++i) {
                cosine.push_back(
                    static_cast<float>(size * std::cos(static_cast<double>(m) * rotary.theta[i])));
                sine.push_back(static_cast<float>(size * std::sin(static_cast<double>(m) * rotary.theta[i])));
            }
    }
    RotationTable view() const {
        return {cosine.data(), sine.data(), static_cast<std::size_t>(rotary.pairs())};
    }

    Rotary rotary;
    Numbers cosine, sine;
};

/// Inputs, outputs, and the gradient of the output.
struct Arrays {
    Numbers qkv, out, log_sum_exps, grad_out, grad_qkv, bias, grad_bias, sinks;
};

class Problem {
  public:
    explicit Problem(const Case& c)
        : c_(c),
          query_key_(c.T, c.d, c.fraction, c.pairing, c.rotation_size),
          value_(c.T, c.d, c.value_fraction, c.pairing),
          output_(c.T, c.d, c.rotates_back ? c.value_fraction : 0, c.pairing) {
        const std::size_t outputs = c.B * c.T * c.H * c.d, joint = c.B * c.T * c.rows() * c.d;
        arrays.qkv = randomNumbers(joint, c.size, 1);
        arrays.grad_out = randomNumbers(outputs, 1, 2);
        if (c.bias) arrays.bias = randomNumbers(c.H * (2 * c.T - 1), 1, 3);
        if (c.sinks) arrays.sinks = randomNumbers(c.H, 1, 4);
        for (float& sink : arrays.sinks)
            sink += static_cast<float>(c.mean_sink);
        arrays.out.resize(outputs);
        arrays.grad_qkv.resize(joint);
        arrays.log_sum_exps.resize(c.B * c.H * c.T);
        if (c.bias) arrays.grad_bias.resize(c.B * c.H * (2 * c.T - 1));
        if (!c.bfloat16) return;
        arrays.qkv = widened(rounded(arrays.qkv));
        arrays.grad_out = widened(rounded(arrays.grad_out));
    }

    void compute() {
        AttentionArguments setup;
        setup.B = c_.B, setup.T = c_.T, setup.H = c_.H, setup.K = c_.K(), setup.d = c_.d;
        setup.shared_kv = c_.shared_kv;
        setup.causal = c_.causal;
        setup.window = c_.window;
        setup.pairing = c_.pairing;
        setup.query = setup.key = query_key_.view();
        setup.value = value_.view();
        setup.output = output_.view();
        if (c_.bias) setup.bias = arrays.bias.data();
        if (c_.sinks) setup.sinks = arrays.sinks.data();
        if (!c_.bfloat16) return compute(setup, arrays.qkv, arrays.grad_out, arrays.out, arrays.grad_qkv);
        std::vector<BFloat16> out(arrays.out.size()), grad_qkv(arrays.grad_qkv.size());
        compute(setup, rounded(arrays.qkv), rounded(arrays.grad_out), out, grad_qkv);
        arrays.out = widened(out);
        arrays.grad_qkv = widened(grad_qkv);
    }

    /// Computes the definition in float64 with whole matrices, from the same float32 input, into the same
    /// arrays.
    struct Exact {
        std::vector<double> out, grad_qkv, grad_bias;
    };
    Exact exact() const {
        Exact exact{std::vector<double>(arrays.out.size()), std::vector<double>(arrays.grad_qkv.size()),
                    std::vector<double>(arrays.grad_bias.size())};
        for (std::size_t b = 0; b < c_.B; ++b)
            for (std::size_t h = 0; h < c_.H; ++h)
                exactHead(b, h, exact);
        return exact;
    }

    Arrays arrays;

  private:
    using Index = Eigen::Index;

    /// @param part  0: q, 1: k, 2: v
    std::size_t place(std::size_t b, std::size_t t, std::size_t part, std::size_t h) const {
        const std::size_t group = h / (c_.H / c_.K());
        const std::size_t row = part == 0                   ? h
                                : part == 1 || c_.shared_kv ? c_.H + group
                                                            : c_.H + c_.K() + group;
        return ((b * c_.T + t) * c_.rows() + row) * c_.d;
    }
    std::size_t outputPlace(std::size_t b, std::size_t t, std::size_t h) const {
        return ((b * c_.T + t) * c_.H + h) * c_.d;
    }

    /// Rotates rows forward or back by their positions; `size` scales the rotation.
    Matrix rotated(Matrix rows, const Rotary& rotary, double direction, double size = 1) const {
        rows.leftCols(2 * rotary.pairs()) *= size;
        for (Index m = 0; m < rows.rows(); ++m)
            rows.row(m) =
                rotate(rotary, rows.row(m).transpose(), direction * static_cast<double>(m)).transpose();
        return rows;
    }

    Matrix part(std::size_t b, std::size_t h, std::size_t which) const {
        Matrix rows(c_.T, c_.d);
        for (std::size_t t = 0; t < c_.T; ++t)
            for (std::size_t i = 0; i < c_.d; ++i)
                rows(static_cast<Index>(t), static_cast<Index>(i)) = arrays.qkv[place(b, t, which, h) + i];
        return rows;
    }

    void exactHead(std::size_t b, std::size_t h, Exact& exact) const {
        const auto T = static_cast<Index>(c_.T), d = static_cast<Index>(c_.d);
        const Rotary &of_scores = query_key_.rotary, &of_values = value_.rotary, &of_outputs = output_.rotary;
        const double size = c_.rotation_size;
        const Matrix q = rotated(part(b, h, 0), of_scores, 1, size),
                     k = rotated(part(b, h, 1), of_scores, 1, size);
        const Matrix v = rotated(part(b, h, 2), of_values, 1);
        Matrix a = q * k.transpose() / std::sqrt(static_cast<double>(c_.d));
        for (Index n = 0; n < T; ++n) {
            for (Index j = 0; j < T; ++j) {
                if (c_.bias)
                    a(n, j) += arrays.bias[h * (2 * c_.T - 1) + static_cast<std::size_t>(n - j + T - 1)];
                const bool is_before_window = c_.window > 0 && n - j >= static_cast<Index>(c_.window);
                if ((c_.causal && j > n) || is_before_window) a(n, j) = -INFINITY;
            }
            const double sink = c_.sinks ? arrays.sinks[h] : -INFINITY,
                         largest = std::max(a.row(n).maxCoeff(), sink);
            a.row(n) = (a.row(n).array() - largest).exp();
            a.row(n) /= a.row(n).sum() + std::exp(sink - largest);
        }
        const Matrix o = rotated(a * v, of_outputs, -1);
        Matrix grad(T, d);
        for (Index t = 0; t < T; ++t)
            for (Index i = 0; i < d; ++i) {
                const std::size_t at =
                    outputPlace(b, static_cast<std::size_t>(t), h) + static_cast<std::size_t>(i);
                exact.out[at] = o(t, i);
                grad(t, i) = arrays.grad_out[at];
            }
        grad = rotated(grad, of_outputs, 1);
        const Matrix da = grad * v.transpose();
        Matrix ds = a.cwiseProduct(da);
        for (Index n = 0; n < T; ++n)
            ds.row(n) -= a.row(n) * ds.row(n).sum();
        const double scale = 1 / std::sqrt(static_cast<double>(c_.d));
        const Matrix parts[] = {rotated(ds * k * scale, of_scores, -1, size),
                                rotated(ds.transpose() * q * scale, of_scores, -1, size),
                                rotated(a.transpose() * grad, of_values, -1)};
        for (std::size_t which = 0; which < 3; ++which)
            for (Index t = 0; t < T; ++t)
                for (Index i = 0; i < d; ++i)
                    exact.grad_qkv[place(b, static_cast<std::size_t>(t), which, h) +
                                   static_cast<std::size_t>(i)] += parts[which](t, i);
        if (!c_.bias) return;
        for (Index n = 0; n < T; ++n)
            for (Index j = 0; j < T; ++j)
                exact.grad_bias[(b * c_.H + h) * (2 * c_.T - 1) + static_cast<std::size_t>(n - j + T - 1)] +=
                    ds(n, j);
    }

    template <class Values>
    void compute(const AttentionArguments& setup, const Values& qkv, const Values& grad_out, Values& out,
                 Values& grad_qkv) {
        AttentionScratch scratch;
        for (std::size_t item = 0; item < setup.items(); ++item)
            attendForward(setup, qkv.data(), out.data(), arrays.log_sum_exps.data(), item, scratch);
        for (std::size_t item = 0; item < setup.items(); ++item)
            attendBackward(setup, qkv.data(), out.data(), arrays.log_sum_exps.data(), grad_out.data(),
                           grad_qkv.data(), c_.bias ? arrays.grad_bias.data() : nullptr, item, scratch);
    }

    Case c_;
    Table query_key_, value_, output_;
};

/// The largest difference relative to the largest number, or to 1 if that is larger: inputs are of order 1,
/// and where a gradient vanishes, the rounding of terms that cancel remains.
double error(const Numbers& found, const std::vector<double>& exact) {
    double difference = 0, largest = 1;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        difference = std::max(difference, std::abs(found[i] - exact[i]));
        largest = std::max(largest, std::abs(exact[i]));
        if (std::isnan(found[i])) return INFINITY;
    }
    return difference / largest;
}

void expectExact(const Case& c, double most = 4e-6) {
    Problem problem(c);
    const Problem::Exact exact = problem.exact();
    const double bias_room = std::max(1.0, 0.4 * std::sqrt(static_cast<double>(c.d)));
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        problem.compute();
        EXPECT_LT(error(problem.arrays.out, exact.out), most) << target << ": " << c;
        EXPECT_LT(error(problem.arrays.grad_qkv, exact.grad_qkv), most) << target << ": " << c;
        // Gradients of scores are differences between sums of d products.
        EXPECT_LT(error(problem.arrays.grad_bias, exact.grad_bias), c.bfloat16 ? most * bias_room : most)
            << target << ": " << c;
    }
    selectKernelTarget("");
}

/// Fractions of a head's width that are rotated. The definition takes long for many tokens, so those are
/// tried with one fraction, except for heads of 64.
std::vector<double> rotatedFractions(std::size_t T, std::size_t d) {
    if (T < 500 || d == 64) return {0.0, 0.25, 0.5, 1.0};
    return {0.5};
}

TEST(Attention, EqualsItsDefinition) {
    for (const std::size_t T : {1, 2, 31, 513})
        for (const std::size_t d : {16, 32, 48, 64, 128})
            for (const double fraction : rotatedFractions(T, d))
                expectExact({T, d, fraction, fraction});
}

// Factors of each product are rounded to 8 bits: tolerance 1e-2 of the largest number.
TEST(Attention, OfBFloat16EqualsItsDefinition) {
    for (const std::size_t T : {1, 2, 31, 64, 129, 513})
        for (const std::size_t d : {16, 32, 48, 64, 128})
            for (const double fraction : rotatedFractions(T, d)) {
                Case c{T, d, fraction, fraction};
                c.bfloat16 = true;
                expectExact(c, 1e-2);
            }
}

TEST(Attention, OfBFloat16KnowsEveryForm) {
    for (const std::size_t T : {1, 2, 31, 65, 130})
        for (const std::size_t d : {2, 20, 36, 64})
            for (const bool causal : {true, false})
                for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
                    Case c{T, d, 1.0, 1.0, causal, /*bias=*/true, pairing};
                    c.B = 2;
                    c.bfloat16 = true;
                    expectExact(c, 1e-2);
                }
}

// Gradients of keys and values are sums over the heads of their group.
TEST(Attention, HeadsMayShareKeysAndValues) {
    for (const bool bfloat16 : {false, true})
        for (const std::size_t T : {1, 2, 65, 130})
            for (const std::size_t K : {1, 2, 4})
                for (const bool shared_kv : {false, true})
                    for (const bool rotates_back : {false, true}) {
                        const std::size_t d = (T + K) % 2 == 0 ? 20 : 32;  // each T and each K with both
                        Case c{T, d, 0.5, 0.5, /*causal=*/T != 65, /*bias=*/d == 20};
                        c.B = 2;
                        c.H = 4;
                        c.bfloat16 = bfloat16;
                        c.kv_heads = K;
                        c.shared_kv = shared_kv;
                        c.rotates_back = rotates_back;
                        expectExact(c, bfloat16 ? 1e-2 : 4e-6);
                    }
}

TEST(Attention, SinksTakePartOfTheWeight) {
    for (const bool bfloat16 : {false, true})
        for (const std::size_t T : {1, 2, 65, 130})
            for (const double share : {1.0, 4.0, -20.0})  // of the sinks: moderate, large or 0
                for (const bool causal : {true, false}) {
                    Case c{T, 20, 1.0, 0.5, causal, /*bias=*/T == 65};
                    c.H = 4;
                    c.kv_heads = 2;
                    c.bfloat16 = bfloat16;
                    c.sinks = true;
                    c.mean_sink = share;
                    expectExact(c, bfloat16 ? 1e-2 : 4e-6);
                }
}

TEST(Attention, WindowsHideDistantKeys) {
    for (const bool bfloat16 : {false, true})
        for (const std::size_t window : {1, 2, 7, 16, 63, 64, 65, 127, 128, 129, 300})
            for (const std::size_t T : {1, 20, 70, 400}) {
                Case c{
                    T, T == 70 ? std::size_t{20} : std::size_t{32}, 1.0, 0.5, true, /*bias=*/window % 2 == 0};
                c.bfloat16 = bfloat16;
                c.window = window;
                c.sinks = T == 70;
                c.kv_heads = 1;
                expectExact(c, bfloat16 ? 1e-2 : 4e-6);
            }
}

TEST(Attention, OfBFloat16PassesNotANumberOn) {
    constexpr std::size_t T = 70, d = 16, H = 2, kBroken = 40;
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        Case c{T, d};
        c.bfloat16 = true;
        Problem problem(c);
        problem.arrays.qkv[kBroken * 3 * H * d] = NAN;
        problem.compute();
        EXPECT_TRUE(std::isnan(problem.arrays.out[kBroken * H * d])) << target;
        EXPECT_FALSE(std::isnan(problem.arrays.out[kBroken * H * d + d])) << target << ": another head";
    }
    selectKernelTarget("");
}

TEST(BFloat16, IsTheNearest) {
    EXPECT_EQ(toFloat(toBFloat16(1.0F)), 1.0F);
    EXPECT_EQ(toFloat(toBFloat16(1.0F + 0x1p-8F)), 1.0F) << "halfway, to the even one";
    EXPECT_EQ(toFloat(toBFloat16(1.0F + 0x3p-8F)), 1.0F + 0x4p-8F) << "halfway, to the even one";
    EXPECT_EQ(toFloat(toBFloat16(1.0F + 0x1.2p-8F)), 1.0F + 0x2p-8F);
    EXPECT_EQ(toFloat(toBFloat16(INFINITY)), INFINITY);
    EXPECT_TRUE(std::isnan(toFloat(toBFloat16(NAN))));
    EXPECT_TRUE(std::isnan(toFloat(toBFloat16(-std::bit_cast<float>(0x7FFFFFFFU)))));
}

TEST(Attention, LooksBothWays) {
    for (const std::size_t T : {1, 2, 31, 63, 64, 65, 200})
        for (const std::size_t d : {16, 48, 64})
            expectExact({T, d, 1.0, 0.5, /*causal=*/false});
}

TEST(Attention, AddsABiasByDistanceAndKnowsItsGradient) {
    for (const std::size_t T : {1, 2, 31, 130})
        for (const bool causal : {true, false}) {
            expectExact({T, 32, 0.0, 0.0, causal, /*bias=*/true});
            expectExact({T, 48, 0.5, 1.0, causal, /*bias=*/true});
        }
}

TEST(Attention, RopeRotatesNoValues) {
    expectExact({77, 32, 1.0, 0.0});
    expectExact({77, 32, 0.25, 1.0});
}

TEST(Attention, RotatesNeighborsToo) {
    for (const std::size_t d : {16, 48, 128})
        for (const double fraction : {0.25, 1.0})
            expectExact({65, d, fraction, fraction, true, false, Pairing::interleaved});
}

TEST(Attention, TakesWidthsThatFillNoVector) {
    for (const std::size_t d : {2, 6, 20, 36, 100})
        for (const Pairing pairing : {Pairing::half, Pairing::interleaved})
            expectExact({70, d, 1.0, 1.0, true, false, pairing});
}

TEST(Attention, RotationsOfAnySizeAreUndoneByTheSame) {
    for (const double fraction : {0.5, 1.0})
        expectExact({50, 32, fraction, 1.0, true, false, Pairing::half, 1.0, 1, 2, /*rotation_size=*/1.2});
}

TEST(Attention, SharpWeightsNeitherOverflowNorVanish) {
    // Scores of several hundred: one weight of almost 1, and many below the smallest float32. A float32 near
    // 1000 has an error of 3e-5, and so have the weights.
    expectExact({150, 32, 1.0, 1.0, true, false, Pairing::half, 12.0}, 1e-4);
}

TEST(Attention, ItemsAreIndependentOfEachOther) {
    expectExact({40, 16, 1.0, 1.0, true, true, Pairing::half, 1.0, /*B=*/3, /*H=*/5});
}

TEST(Attention, TheFutureChangesNothing) {
    constexpr std::size_t T = 100, d = 32, H = 2, kChanged = 60;
    Problem problem({T, d}), changed({T, d});
    for (std::size_t i = kChanged * 3 * H * d; i < changed.arrays.qkv.size(); ++i)
        changed.arrays.qkv[i] += 5.0F;
    problem.compute();
    changed.compute();
    for (std::size_t i = 0; i < kChanged * H * d; ++i)
        ASSERT_EQ(problem.arrays.out[i], changed.arrays.out[i]) << "number " << i;
}

TEST(Attention, NotANumberIsPassedOn) {
    constexpr std::size_t T = 70, d = 16, H = 2, kBroken = 40;
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        Problem problem({T, d});
        problem.arrays.qkv[kBroken * 3 * H * d] = NAN;  // the first feature of a query of head 0
        problem.compute();
        for (std::size_t i = 0; i < d; ++i) {
            EXPECT_TRUE(std::isnan(problem.arrays.out[kBroken * H * d + i])) << target;
            EXPECT_FALSE(std::isnan(problem.arrays.out[kBroken * H * d + d + i]))
                << target << ": another head";
        }
    }
    selectKernelTarget("");
}

TEST(Attention, RefusesATargetThatIsNotThere) {
    EXPECT_THROW(selectKernelTarget("abacus"), std::invalid_argument);
    EXPECT_EQ(kernelTarget(), kernelTargets().front());
}

TEST(Attention, EveryInstructionSetOfThisComputerIsTested) {
    // expectExact iterates over this list, so it must contain the instruction sets that CI forces.
    const std::vector<std::string> targets = kernelTargets();
    const auto holds = [&](const char* name) {
        return std::find(targets.begin(), targets.end(), name) != targets.end();
    };
    EXPECT_TRUE(holds("portable"));
#if defined(__x86_64__)
    EXPECT_EQ(holds("SSE4"), __builtin_cpu_supports("sse4.2") != 0);
    EXPECT_EQ(holds("AVX2"), __builtin_cpu_supports("avx2") != 0);
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd");
    EXPECT_EQ(holds("AVX-512"), avx512);
    EXPECT_EQ(holds("AVX-512 BF16"), avx512 && __builtin_cpu_supports("avx512bf16"));
#endif
}

}  // namespace
}  // namespace roper
