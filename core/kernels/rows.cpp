#include "core/kernels/rows.h"

#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/rows.cpp"
#include "hwy/foreach_target.h"

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace roper::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls whole(i) for each whole vector of a row and rest(i) for each number that is left.
template <class Whole, class Rest>
HWY_INLINE HWY_ATTR void along(std::size_t width, Whole whole, Rest rest) {
    const hn::ScalableTag<float> f;
    std::size_t i = 0;
    for (; i + hn::Lanes(f) <= width; i += hn::Lanes(f))
        whole(i);
    for (; i < width; ++i)
        rest(i);
}

inline HWY_ATTR void normalize(const float* x, const float* weight, const float* bias, float epsilon,
                               std::size_t rows, std::size_t width, float* y, float* means, float* inverses) {
    const hn::ScalableTag<float> f;
    const float share = 1.0F / static_cast<float>(width);
    for (std::size_t row = 0; row < rows; ++row, x += width, y += width) {
        auto sums = hn::Zero(f);
        float sum = 0;
        along(
            width, [&](std::size_t i) HWY_ATTR { sums = hn::Add(sums, hn::LoadU(f, x + i)); },
            [&](std::size_t i) { sum += x[i]; });
        const float mean = (sum + hn::GetLane(hn::SumOfLanes(f, sums))) * share;
        const auto mean_v = hn::Set(f, mean);
        auto squares = hn::Zero(f);
        float square = 0;
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto from_mean = hn::Sub(hn::LoadU(f, x + i), mean_v);
                squares = hn::MulAdd(from_mean, from_mean, squares);
            },
            [&](std::size_t i) { square += (x[i] - mean) * (x[i] - mean); });
        const float variance = (square + hn::GetLane(hn::SumOfLanes(f, squares))) * share;
        const float inverse = 1.0F / std::sqrt(variance + epsilon);
        const auto inverse_v = hn::Set(f, inverse);
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                hn::StoreU(hn::MulAdd(normal, hn::LoadU(f, weight + i), hn::LoadU(f, bias + i)), f, y + i);
            },
            [&](std::size_t i) { y[i] = (x[i] - mean) * inverse * weight[i] + bias[i]; });
        means[row] = mean;
        inverses[row] = inverse;
    }
}

// With x̂ = (x − mean) · inverse and g = ∂L/∂y ∘ weight:  ∂L/∂x = inverse · (g − mean(g) − x̂ · mean(g ∘ x̂))
inline HWY_ATTR void normalizeBackward(const float* x, const float* weight, const float* means,
                                       const float* inverses, const float* grad_y, const float* passing,
                                       std::size_t rows, std::size_t width, float* grad_x, float* grad_weight,
                                       float* grad_bias) {
    const hn::ScalableTag<float> f;
    const float share = 1.0F / static_cast<float>(width);
    for (std::size_t row = 0; row < rows; ++row, x += width, grad_y += width, grad_x += width) {
        const float mean = means[row], inverse = inverses[row];
        const auto mean_v = hn::Set(f, mean), inverse_v = hn::Set(f, inverse);
        auto sums = hn::Zero(f), products = hn::Zero(f);
        float sum = 0, product = 0;
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                const auto of_y = hn::LoadU(f, grad_y + i), g = hn::Mul(of_y, hn::LoadU(f, weight + i));
                sums = hn::Add(sums, g);
                products = hn::MulAdd(g, normal, products);
                hn::StoreU(hn::MulAdd(of_y, normal, hn::LoadU(f, grad_weight + i)), f, grad_weight + i);
                hn::StoreU(hn::Add(hn::LoadU(f, grad_bias + i), of_y), f, grad_bias + i);
            },
            [&](std::size_t i) {
                const float normal = (x[i] - mean) * inverse, g = grad_y[i] * weight[i];
                sum += g;
                product += g * normal;
                grad_weight[i] += grad_y[i] * normal;
                grad_bias[i] += grad_y[i];
            });
        const float mean_g = (sum + hn::GetLane(hn::SumOfLanes(f, sums))) * share;
        const float mean_product = (product + hn::GetLane(hn::SumOfLanes(f, products))) * share;
        const auto mean_g_v = hn::Set(f, mean_g), mean_product_v = hn::Set(f, mean_product);
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto normal = hn::Mul(hn::Sub(hn::LoadU(f, x + i), mean_v), inverse_v);
                const auto g = hn::Mul(hn::LoadU(f, grad_y + i), hn::LoadU(f, weight + i));
                const auto central = hn::NegMulAdd(normal, mean_product_v, hn::Sub(g, mean_g_v));
                const auto before = passing != nullptr ? hn::LoadU(f, passing + i) : hn::Zero(f);
                hn::StoreU(hn::MulAdd(central, inverse_v, before), f, grad_x + i);
            },
            [&](std::size_t i) {
                const float normal = (x[i] - mean) * inverse;
                const float central = grad_y[i] * weight[i] - mean_g - normal * mean_product;
                grad_x[i] = central * inverse + (passing != nullptr ? passing[i] : 0.0F);
            });
        if (passing != nullptr) passing += width;
    }
}

inline HWY_ATTR void add(const float* data, std::size_t rows, std::size_t width, float* sums) {
    const hn::ScalableTag<float> f;
    for (std::size_t row = 0; row < rows; ++row, data += width)
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                hn::StoreU(hn::Add(hn::LoadU(f, sums + i), hn::LoadU(f, data + i)), f, sums + i);
            },
            [&](std::size_t i) { sums[i] += data[i]; });
}

inline HWY_ATTR void reluBack(const float* y, std::size_t rows, std::size_t width, float* gradient,
                              float* sums) {
    const hn::ScalableTag<float> f;
    for (std::size_t row = 0; row < rows; ++row, y += width, gradient += width)
        along(
            width,
            [&](std::size_t i) HWY_ATTR {
                const auto off = hn::Le(hn::LoadU(f, y + i), hn::Zero(f));  // false for NaN, which goes on
                const auto kept = hn::IfThenZeroElse(off, hn::LoadU(f, gradient + i));
                hn::StoreU(kept, f, gradient + i);
                hn::StoreU(hn::Add(hn::LoadU(f, sums + i), kept), f, sums + i);
            },
            [&](std::size_t i) {
                if (y[i] <= 0) gradient[i] = 0;
                sums[i] += gradient[i];
            });
}

}  // namespace roper::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roper {
namespace {

HWY_EXPORT(normalize);
HWY_EXPORT(normalizeBackward);
HWY_EXPORT(add);
HWY_EXPORT(reluBack);

}  // namespace

void normalizeRows(const float* x, const float* weight, const float* bias, float epsilon, std::size_t rows,
                   std::size_t width, float* y, float* means, float* inverses) {
    HWY_DYNAMIC_DISPATCH(normalize)(x, weight, bias, epsilon, rows, width, y, means, inverses);
}

void normalizeRowsBackward(const float* x, const float* weight, const float* means, const float* inverses,
                           const float* grad_y, const float* passing, std::size_t rows, std::size_t width,
                           float* grad_x, float* grad_weight, float* grad_bias) {
    HWY_DYNAMIC_DISPATCH(normalizeBackward)
    (x, weight, means, inverses, grad_y, passing, rows, width, grad_x, grad_weight, grad_bias);
}

void addRows(const float* rows_data, std::size_t rows, std::size_t width, float* sums) {
    HWY_DYNAMIC_DISPATCH(add)(rows_data, rows, width, sums);
}

void reluBackward(const float* y, std::size_t rows, std::size_t width, float* gradient, float* sums) {
    HWY_DYNAMIC_DISPATCH(reluBack)(y, rows, width, gradient, sums);
}

}  // namespace roper
#endif
