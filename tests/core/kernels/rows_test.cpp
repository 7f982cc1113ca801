#include "core/kernels/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/attention.h"

namespace roper {
namespace {

using Numbers = std::vector<float>;

Numbers randomNumbers(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    Numbers numbers(count);
    for (float& number : numbers)
        number = normal(generator);
    return numbers;
}

void expectNear(const Numbers& found, const std::vector<double>& exact, const std::string& what) {
    for (std::size_t i = 0; i < exact.size(); ++i)
        ASSERT_NEAR(found[i], exact[i], 2e-5) << what << ", number " << i;
}

/// Calls test(rows, width) for every instruction set that this computer supports.
template <class Test>
void forEveryTarget(Test test) {
    for (const std::string& target : kernelTargets()) {
        selectKernelTarget(target);
        SCOPED_TRACE(target);
        for (const std::size_t width : {1, 3, 8, 24, 130})
            for (const std::size_t rows : {1, 5})
                test(rows, width);
    }
    selectKernelTarget("");
}

TEST(Rows, NormAndItsGradientFollowTheFormula) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        const double epsilon = 1e-5, n = static_cast<double>(width);
        const Numbers x = randomNumbers(rows * width, 1), weight = randomNumbers(width, 2),
                      bias = randomNumbers(width, 3), grad_y = randomNumbers(rows * width, 4),
                      residual_gradient = randomNumbers(rows * width, 5);
        Numbers y(rows * width), means(rows), inverse_deviations(rows), grad_x(rows * width),
            grad_weight(width), grad_bias(width);
        rowKernels<float>().normalize(x.data(), weight.data(), bias.data(), static_cast<float>(epsilon), rows,
                                      width, y.data(), means.data(), inverse_deviations.data());
        if (width == 1) return;  // the deviation of a single number is 0, so only rounding would remain
        rowKernels<float>().normalize_backward(
            x.data(), weight.data(), means.data(), inverse_deviations.data(), grad_y.data(),
            residual_gradient.data(), rows, width, grad_x.data(), grad_weight.data(), grad_bias.data());
        std::vector<double> exact_y(rows * width), exact_x(rows * width), exact_weight(width),
            exact_bias(width);
        for (std::size_t row = 0; row < rows; ++row) {
            const auto at = [&](std::size_t i) { return row * width + i; };
            double mean = 0, variance = 0, mean_g = 0, mean_product = 0;
            for (std::size_t i = 0; i < width; ++i)
                mean += x[at(i)] / n;
            for (std::size_t i = 0; i < width; ++i)
                variance += (x[at(i)] - mean) * (x[at(i)] - mean) / n;
            const double inverse = 1 / std::sqrt(variance + epsilon);
            const auto normal = [&](std::size_t i) { return (x[at(i)] - mean) * inverse; };
            for (std::size_t i = 0; i < width; ++i) {
                exact_y[at(i)] = normal(i) * weight[i] + bias[i];
                mean_g += static_cast<double>(grad_y[at(i)]) * weight[i] / n;
                mean_product += static_cast<double>(grad_y[at(i)]) * weight[i] * normal(i) / n;
                exact_weight[i] += grad_y[at(i)] * normal(i);
                exact_bias[i] += grad_y[at(i)];
            }
            for (std::size_t i = 0; i < width; ++i)
                exact_x[at(i)] =
                    residual_gradient[at(i)] + inverse * (static_cast<double>(grad_y[at(i)]) * weight[i] -
                                                          mean_g - normal(i) * mean_product);
        }
        expectNear(y, exact_y, "y");
        expectNear(grad_x, exact_x, "gradient of x");
        expectNear(grad_weight, exact_weight, "gradient of the weight");
        expectNear(grad_bias, exact_bias, "gradient of the bias");
    });
}

/// Numbers rounded to bfloat16, stored as bfloat16 and as float32.
struct Rounded {
    explicit Rounded(const Numbers& from) {
        for (const float number : from) {
            halves.push_back(toBFloat16(number));
            numbers.push_back(toFloat(halves.back()));
        }
    }
    std::vector<BFloat16> halves;
    Numbers numbers;
};

// For inputs in bfloat16, every kernel must return its float32 result for the same numbers, rounded.
TEST(Rows, OfBFloat16EqualThoseOfFloat32) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        const std::size_t all = rows * width;
        const Numbers weight = randomNumbers(width, 2), bias = randomNumbers(width, 3);
        const Rounded x(randomNumbers(all, 1)), gradient(randomNumbers(all, 4));
        Numbers y(all), means(rows), inverse_deviations(rows), sums(width), half_sums(width);
        std::vector<BFloat16> half_y(all);
        const auto expectRounded = [&](const char* what) {
            for (std::size_t i = 0; i < all; ++i)
                ASSERT_EQ(toFloat(half_y[i]), toFloat(toBFloat16(y[i]))) << what << ", number " << i;
        };
        rowKernels<float>().normalize(x.numbers.data(), weight.data(), bias.data(), 1e-5F, rows, width,
                                      y.data(), means.data(), inverse_deviations.data());
        rowKernels<BFloat16>().normalize(x.numbers.data(), weight.data(), bias.data(), 1e-5F, rows, width,
                                         half_y.data(), means.data(), inverse_deviations.data());
        expectRounded("norm");
        Numbers grad_bias(width), half_grad_bias(width);
        const auto normGradient = [&]<class Number>(const Number* grad_y, Numbers& grad_weight,
                                                    Numbers& of_bias) {
            Numbers grad_x(all);
            std::fill(grad_weight.begin(), grad_weight.end(), 0.0F);
            rowKernels<Number>().normalize_backward(x.numbers.data(), weight.data(), means.data(),
                                                    inverse_deviations.data(), grad_y, nullptr, rows, width,
                                                    grad_x.data(), grad_weight.data(), of_bias.data());
            return grad_x;
        };
        EXPECT_EQ(normGradient(gradient.numbers.data(), sums, grad_bias),
                  normGradient(gradient.halves.data(), half_sums, half_grad_bias));
        EXPECT_EQ(sums, half_sums);
        EXPECT_EQ(grad_bias, half_grad_bias);
        rowKernels<float>().gelu(x.numbers.data(), all, y.data());
        rowKernels<BFloat16>().gelu(x.halves.data(), all, half_y.data());
        expectRounded("gelu");
        const auto gradients = [&](auto back, auto half_back, const char* what) {
            y = gradient.numbers;
            half_y = gradient.halves;
            std::fill(sums.begin(), sums.end(), 0.0F);
            half_sums = sums;
            back(x.numbers.data(), rows, width, y.data(), sums.data());
            half_back(x.halves.data(), rows, width, half_y.data(), half_sums.data());
            expectRounded(what);
            EXPECT_EQ(sums, half_sums) << what;
        };
        gradients(rowKernels<float>().gelu_backward, rowKernels<BFloat16>().gelu_backward, "gelu's gradient");
        gradients(rowKernels<float>().relu_backward, rowKernels<BFloat16>().relu_backward, "relu's gradient");
        std::fill(sums.begin(), sums.end(), 0.0F);
        half_sums = sums;
        rowKernels<float>().add(x.numbers.data(), rows, width, sums.data());
        rowKernels<BFloat16>().add(x.halves.data(), rows, width, half_sums.data());
        EXPECT_EQ(sums, half_sums);
    });
}

TEST(Rows, SumsAreAddedToWhatIsThere) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        const Numbers data = randomNumbers(rows * width, 6);
        Numbers sums(width, 10.0F);
        rowKernels<float>().add(data.data(), rows, width, sums.data());
        std::vector<double> exact(width, 10.0);
        for (std::size_t i = 0; i < data.size(); ++i)
            exact[i % width] += data[i];
        expectNear(sums, exact, "sum");
    });
}

TEST(Rows, ReluLetsGradientsThroughWhereItWasOn) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        Numbers y = randomNumbers(rows * width, 7), gradient = randomNumbers(rows * width, 8), sums(width);
        std::transform(y.begin(), y.end(), y.begin(), [](float value) { return std::max(value, 0.0F); });
        std::vector<double> exact(gradient.begin(), gradient.end()), exact_sums(width);
        for (std::size_t i = 0; i < y.size(); ++i) {
            if (y[i] == 0) exact[i] = 0;
            exact_sums[i % width] += exact[i];
        }
        rowKernels<float>().relu_backward(y.data(), rows, width, gradient.data(), sums.data());
        expectNear(gradient, exact, "gradient");
        expectNear(sums, exact_sums, "sum");
    });
}

TEST(Rows, GeluAndItsGradientFollowTheFormula) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        Numbers x = randomNumbers(rows * width, 9), gradient = randomNumbers(rows * width, 10), sums(width),
                y(rows * width);
        for (float& number : x)
            number *= 4;  // covers both tails
        const Numbers grad_y = gradient;
        rowKernels<float>().gelu(x.data(), rows * width, y.data());
        rowKernels<float>().gelu_backward(x.data(), rows, width, gradient.data(), sums.data());
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double v = x[i], cumulative = 0.5 * std::erfc(-v / std::sqrt(2.0));
            const double density = std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
            EXPECT_NEAR(y[i], v * cumulative, 2e-6) << v;
            EXPECT_NEAR(gradient[i], grad_y[i] * (cumulative + v * density), 4e-6) << v;
        }
        std::vector<double> exact_sums(width);
        for (std::size_t i = 0; i < gradient.size(); ++i)
            exact_sums[i % width] += gradient[i];
        expectNear(sums, exact_sums, "sum");
    });
}

TEST(Rows, GeluKeepsNan) {
    forEveryTarget([](std::size_t rows, std::size_t width) {
        Numbers x(rows * width, NAN), y(rows * width);
        rowKernels<float>().gelu(x.data(), rows * width, y.data());
        for (const float number : y)
            EXPECT_TRUE(std::isnan(number));
    });
}

}  // namespace
}  // namespace roper
