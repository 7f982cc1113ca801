#include "core/model/layer_operations.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace roper {
namespace {

/// x Wᵀ + b by LibTorch, in the number type of the weights.
at::Tensor plainLinear(const at::Tensor& x, const Affine& layer) {
    return at::linear(x.to(layer.weight.scalar_type()), layer.weight, layer.bias);
}

/// Uninitialized tensors with the shapes of `like`, in one array.
std::vector<at::Tensor> sideBySide(at::TensorList like, at::ScalarType type) {
    std::int64_t numbers = 0;
    for (const at::Tensor& tensor : like)
        numbers += tensor.numel();
    const at::Tensor all = at::empty({numbers}, like.front().options().dtype(type));
    std::vector<at::Tensor> parts;
    std::int64_t first = 0;
    for (const at::Tensor& tensor : like) {
        parts.push_back(all.narrow(0, first, tensor.numel()).view(tensor.sizes()));
        first += tensor.numel();
    }
    return parts;
}

class CastFunction : public torch::autograd::Function<CastFunction> {
  public:
    static torch::autograd::tensor_list forward(torch::autograd::AutogradContext* context,
                                                at::TensorList tensors, at::ScalarType type) {
        context->saved_data["type"] = tensors.front().scalar_type();
        const std::vector<at::Tensor> parts = sideBySide(tensors, type);
        at::_foreach_copy_(parts, tensors);
        return parts;
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        std::vector<at::Tensor> parts = sideBySide(gradients, context->saved_data["type"].toScalarType());
        at::_foreach_copy_(parts, gradients);
        parts.emplace_back();  // no gradient of `type`
        return parts;
    }
};

}  // namespace

std::vector<at::Tensor> castAll(const std::vector<at::Tensor>& tensors, at::ScalarType type) {
    return CastFunction::apply(at::TensorList(tensors), type);
}

Normalized LayerOperations::norm(const at::Tensor& x, const Affine& norm, at::ScalarType type) const {
    if (rms) return {x, at::rms_norm(x, {x.size(-1)}, norm.weight, kNormEpsilon).to(type)};
    if (uses_kernels) return denseNorm(x, norm.weight, norm.bias, kNormEpsilon, type);
    return {x, at::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, kNormEpsilon).to(type)};
}

at::Tensor LayerOperations::linear(const at::Tensor& x, const Affine& layer) const {
    if (uses_kernels) return denseLinear(x.to(compute_type), layer.weight, layer.bias, compute_type);
    return plainLinear(x, layer);
}

at::Tensor LayerOperations::linearToMaster(const at::Tensor& x, const Affine& layer) const {
    if (uses_kernels) return denseLinear(x.to(compute_type), layer.weight, layer.bias);
    return plainLinear(x, layer).to(master_type);
}

at::Tensor LayerOperations::addLinear(const at::Tensor& residual, const at::Tensor& x,
                                      const Affine& layer) const {
    if (!uses_kernels) return residual + applyDropout(plainLinear(x, layer));
    const at::Tensor input = x.to(compute_type);
    if (dropout > 0) return residual + applyDropout(denseLinear(input, layer.weight, layer.bias));
    return denseLinear(input, layer.weight, layer.bias, at::kFloat, residual);
}

at::Tensor LayerOperations::addFeedForward(const at::Tensor& residual, const at::Tensor& x,
                                           const Affine& gate, const Affine& up, const Affine& down) const {
    if (gate.weight.defined()) return addLinear(residual, at::silu(linear(x, gate)) * linear(x, up), down);
    if (!uses_kernels) {
        const at::Tensor hidden = plainLinear(x, up);
        return addLinear(residual, gelu ? at::gelu(hidden) : at::relu(hidden), down);
    }
    const auto feedForwardPlus = [&](const at::Tensor& added) {
        return denseFeedForward(x.to(compute_type), up.weight, up.bias, down.weight, down.bias, gelu, added);
    };
    return dropout > 0 ? residual + applyDropout(feedForwardPlus({})) : feedForwardPlus(residual);
}

at::Tensor LayerOperations::applyDropout(const at::Tensor& x) const {
    return dropout > 0 ? at::dropout(x, dropout, /*train=*/true) : x;
}

}  // namespace roper
