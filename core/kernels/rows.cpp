#include "core/kernels/rows.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows.cpp"
#include "hwy/foreach_target.h"

#include "core/kernels/vectors-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls onVector(i) for each whole vector of a row and onNumber(i) for each remaining number.
template <class OnVector, class OnNumber>
HWY_INLINE HWY_ATTR void forEachVector(std::size_t width, OnVector onVector, OnNumber onNumber) {
    const hn::ScalableTag<float> f;
    std::size_t i = 0;
    for (; i + hn::Lanes(f) <= width; i += hn::Lanes(f))
        onVector(i);
    for (; i < width; ++i)
        onNumber(i);
}

template <class Number>
HWY_ATTR void normalize(const float* x, const float* weight, const float* bias, float epsilon,
                        std::size_t rows, std::size_t width, Number* y, float* means,
                        float* inverse_deviations) {
    const hn::ScalableTag<float> f;
    const float inverse_width = 1.0F / static_cast<float>(width);
    for (std::size_t row = 0; row < rows; ++row, x += width, y += width) {
        auto sums = hn::Zero(f);
        float sum = 0;
        forEachVector(
            width, [&](std::size_t i) HWY_ATTR { sums = hn::Add(sums, hn::LoadU(f, x + i)); },
            [&](std::size_t i) { sum += x[i]; });
        const float mean = (sum + hn::GetLane(hn::SumOfLanes(f, sums))) * inverse_width;
        const auto mean_v = hn::Set(f, mean);
        auto squares = hn::Zero(f);
        float square = 0;
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto from_mean = hn::Sub(hn::LoadU(f, x + i), mean_v);
                squares = hn::MulAdd(from_mean, from_mean, squares);
            },
            [&](std::size_t i) { square += (x[i] - mean) * (x[i] - mean); });
        const float variance = (square + hn::GetLane(hn::SumOfLanes(f, squares))) * inverse_width;
        const float inverse = 1.0F / std::sqrt(variance + epsilon);
        const auto inverse_v = hn::Set(f, inverse);
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                storeNumbers(f, hn::MulAdd(normal, hn::LoadU(f, weight + i), hn::LoadU(f, bias + i)), y + i);
            },
            [&](std::size_t i) { storeNumber((x[i] - mean) * inverse * weight[i] + bias[i], y + i); });
        means[row] = mean;
        inverse_deviations[row] = inverse;
    }
}

// With inverse = 1 / √(variance + epsilon), x̂ = (x − mean) · inverse and g = ∂L/∂y ∘ weight:
// ∂L/∂x = inverse · (g − mean(g) − x̂ · mean(g ∘ x̂))
template <class Number>
HWY_ATTR void normalizeBackward(const float* x, const float* weight, const float* means,
                                const float* inverse_deviations, const Number* grad_y,
                                const float* residual_gradient, std::size_t rows, std::size_t width,
                                float* grad_x, float* grad_weight, float* grad_bias) {
    const hn::ScalableTag<float> f;
    const float inverse_width = 1.0F / static_cast<float>(width);
    for (std::size_t row = 0; row < rows; ++row, x += width, grad_y += width, grad_x += width) {
        const float mean = means[row], inverse = inverse_deviations[row];
        const auto mean_v = hn::Set(f, mean), inverse_v = hn::Set(f, inverse);
        auto sums = hn::Zero(f), products = hn::Zero(f);
        float sum = 0, product = 0;
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                const auto y_gradient = loadNumbers(f, grad_y + i),
                           g = hn::Mul(y_gradient, hn::LoadU(f, weight + i));
                sums = hn::Add(sums, g);
                products = hn::MulAdd(g, normal, products);
                hn::StoreU(hn::MulAdd(y_gradient, normal, hn::LoadU(f, grad_weight + i)), f, grad_weight + i);
                hn::StoreU(hn::Add(hn::LoadU(f, grad_bias + i), y_gradient), f, grad_bias + i);
            },
            [&](std::size_t i) {
                const float normal = (x[i] - mean) * inverse, y_gradient = loadNumber(grad_y + i);
                const float g = y_gradient * weight[i];
                sum += g;
                product += g * normal;
                grad_weight[i] += y_gradient * normal;
                grad_bias[i] += y_gradient;
            });
        const float mean_g = (sum + hn::GetLane(hn::SumOfLanes(f, sums))) * inverse_width;
        const float mean_product = (product + hn::GetLane(hn::SumOfLanes(f, products))) * inverse_width;
        const auto mean_g_v = hn::Set(f, mean_g), mean_product_v = hn::Set(f, mean_product);
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                const auto g = hn::Mul(loadNumbers(f, grad_y + i), hn::LoadU(f, weight + i));
                const auto central = hn::NegMulAdd(normal, mean_product_v, hn::Sub(g, mean_g_v));
                const auto other_gradient =
                    residual_gradient != nullptr ? hn::LoadU(f, residual_gradient + i) : hn::Zero(f);
                hn::StoreU(hn::MulAdd(central, inverse_v, other_gradient), f, grad_x + i);
            },
            [&](std::size_t i) {
                const float normal = (x[i] - mean) * inverse;
                const float central = loadNumber(grad_y + i) * weight[i] - mean_g - normal * mean_product;
                grad_x[i] = central * inverse + (residual_gradient != nullptr ? residual_gradient[i] : 0.0F);
            });
        if (residual_gradient != nullptr) residual_gradient += width;
    }
}

template <class Number>
HWY_ATTR void add(const Number* data, std::size_t rows, std::size_t width, float* sums) {
    const hn::ScalableTag<float> f;
    for (std::size_t row = 0; row < rows; ++row, data += width)
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                hn::StoreU(hn::Add(hn::LoadU(f, sums + i), loadNumbers(f, data + i)), f, sums + i);
            },
            [&](std::size_t i) { sums[i] += loadNumber(data + i); });
}

template <class Number>
HWY_ATTR void reluBack(const Number* y, std::size_t rows, std::size_t width, Number* gradient, float* sums) {
    const hn::ScalableTag<float> f;
    for (std::size_t row = 0; row < rows; ++row, y += width, gradient += width)
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                // false for NaN, which is passed on
                const auto off = hn::Le(loadNumbers(f, y + i), hn::Zero(f));
                const auto remaining = hn::IfThenZeroElse(off, loadNumbers(f, gradient + i));
                storeNumbers(f, remaining, gradient + i);
                hn::StoreU(hn::Add(hn::LoadU(f, sums + i), remaining), f, sums + i);
            },
            [&](std::size_t i) {
                if (loadNumber(y + i) <= 0) storeNumber(0, gradient + i);
                sums[i] += loadNumber(gradient + i);
            });
}

/// Φ(x) and φ(x) of the standard normal distribution, with an absolute error of 3e-7: with z = |x| / √2,
/// Φ(|x|) = 1 − ½ e^(−z²) P(1 / (1 + 0.3275911 z)), P of degree 5 (Abramowitz & Stegun 1964, 7.1.26).
template <class F>
class NormalDistribution {
  public:
    using V = hn::Vec<F>;
    struct Values {
        V cumulative, density;
    };

    HWY_INLINE HWY_ATTR explicit NormalDistribution(F f) : powerOf2_(f) {}

    HWY_INLINE HWY_ATTR Values operator()(V x) const {
        const F f;
        const V one = hn::Set(f, 1.0F), size = hn::Abs(x);
        // e^(−x²/2) = 2^(−x² log₂e / 2)
        const V bell = powerOf2_(hn::Mul(hn::Mul(x, x), hn::Set(f, -0.72134752F)));
        const V t = hn::Div(one, hn::MulAdd(size, hn::Set(f, 0.23164190F), one));  // 0.3275911 / √2
        V p = hn::MulAdd(hn::Set(f, 1.061405429F), t, hn::Set(f, -1.453152027F));
        p = hn::MulAdd(p, t, hn::Set(f, 1.421413741F));
        p = hn::MulAdd(p, t, hn::Set(f, -0.284496736F));
        p = hn::MulAdd(p, t, hn::Set(f, 0.254829592F));
        const V tail = hn::Mul(hn::Mul(hn::Mul(p, t), bell), hn::Set(f, 0.5F));
        const V cumulative = hn::IfThenElse(hn::Lt(x, hn::Zero(f)), tail, hn::Sub(one, tail));
        return {cumulative, hn::Mul(bell, hn::Set(f, 0.39894228F))};
    }

  private:
    PowerOf2<F> powerOf2_;
};

inline float cumulativeNormal(float x) {
    return 0.5F * std::erfc(-0.70710678F * x);
}

template <class Number>
HWY_ATTR void geluForward(const Number* x, std::size_t count, Number* y) {
    const hn::ScalableTag<float> f;
    const NormalDistribution<decltype(f)> normal(f);
    forEachVector(
        count,
        [&](std::size_t i) HWY_ATTR {
            const auto v = loadNumbers(f, x + i);
            storeNumbers(f, hn::Mul(v, normal(v).cumulative), y + i);
        },
        [&](std::size_t i) {
            const float v = loadNumber(x + i);
            storeNumber(v * cumulativeNormal(v), y + i);
        });
}

template <class Number>
HWY_ATTR void geluBack(const Number* x, std::size_t rows, std::size_t width, Number* gradient, float* sums) {
    const hn::ScalableTag<float> f;
    const NormalDistribution<decltype(f)> normal(f);
    for (std::size_t row = 0; row < rows; ++row, x += width, gradient += width)
        forEachVector(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto v = loadNumbers(f, x + i);
                const auto values = normal(v);
                const auto slope = hn::MulAdd(v, values.density, values.cumulative);
                const auto back = hn::Mul(loadNumbers(f, gradient + i), slope);
                storeNumbers(f, back, gradient + i);
                hn::StoreU(hn::Add(hn::LoadU(f, sums + i), back), f, sums + i);
            },
            [&](std::size_t i) {
                const float v = loadNumber(x + i), density = 0.39894228F * std::exp(-0.5F * v * v);
                const float back = loadNumber(gradient + i) * (cumulativeNormal(v) + v * density);
                storeNumber(back, gradient + i);
                sums[i] += back;
            });
}

/// The kernels for a type, compiled for this instruction set: templates cannot be dispatched.
template <class Number>
const RowKernels<Number>& kernelsOfTarget() {
    static constexpr RowKernels<Number> kernels{normalize<Number>,   normalizeBackward<Number>,
                                                add<Number>,         reluBack<Number>,
                                                geluForward<Number>, geluBack<Number>};
    return kernels;
}

inline const RowKernels<float>& singleRowKernels() {
    return kernelsOfTarget<float>();
}

inline const RowKernels<BFloat16>& bfloat16RowKernels() {
    return kernelsOfTarget<BFloat16>();
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(singleRowKernels);
HWY_EXPORT(bfloat16RowKernels);

}  // namespace

template <>
const RowKernels<float>& rowKernels() {
    return HWY_DYNAMIC_DISPATCH(singleRowKernels)();
}

template <>
const RowKernels<BFloat16>& rowKernels() {
    return HWY_DYNAMIC_DISPATCH(bfloat16RowKernels)();
}

}  // namespace roper
#endif
