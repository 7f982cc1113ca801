#include "core/model/pass.h"

#include <ATen/ATen.h>

namespace roper {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

/// By LibTorch's operations, in numbers of a type.
at::Tensor plainLinear(const at::Tensor& x, const Affine& layer, at::ScalarType type) {
    return at::linear(x.to(type), layer.weight.to(type), layer.bias.to(type));
}

}  // namespace

Normalized Pass::norm(const at::Tensor& x, const Affine& norm, at::ScalarType type) const {
    if (by_kernels) return denseNorm(x, norm.weight, norm.bias, kLayerNormEpsilon, type);
    return {x, at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, kLayerNormEpsilon).to(type)};
}

at::Tensor Pass::linear(const at::Tensor& x, const Affine& layer) const {
    if (by_kernels) return denseLinear(x.to(factors), layer.weight, layer.bias, factors);
    return plainLinear(x, layer, factors);
}

at::Tensor Pass::linearExact(const at::Tensor& x, const Affine& layer) const {
    if (by_kernels) return denseLinear(x.to(factors), layer.weight, layer.bias);
    return plainLinear(x, layer, factors).to(layer.weight.scalar_type());
}

at::Tensor Pass::addLinear(const at::Tensor& residual, const at::Tensor& x, const Affine& layer) const {
    if (!by_kernels) return residual + drop(plainLinear(x, layer, factors));
    const at::Tensor input = x.to(factors);
    if (dropout > 0) return residual + drop(denseLinear(input, layer.weight, layer.bias));
    return denseLinear(input, layer.weight, layer.bias, at::kFloat, residual);
}

at::Tensor Pass::addFeedForward(const at::Tensor& residual, const at::Tensor& x, const Affine& up,
                                const Affine& down) const {
    if (!by_kernels) {
        const at::Tensor hidden = plainLinear(x, up, factors);
        return addLinear(residual, gelu ? at::gelu(hidden) : at::relu(hidden), down);
    }
    const auto answer = [&](const at::Tensor& added) {
        return denseFeedForward(x.to(factors), up.weight, up.bias, down.weight, down.bias, gelu, added);
    };
    return dropout > 0 ? residual + drop(answer({})) : answer(residual);
}

at::Tensor Pass::drop(const at::Tensor& x) const {
    return dropout > 0 ? at::dropout(x, dropout, /*train=*/true) : x;
}

}  // namespace roper
