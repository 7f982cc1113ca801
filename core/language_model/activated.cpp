#include "core/language_model/activated.h"

#include <ATen/ATen.h>

#include <cmath>

namespace roper {

at::Tensor activated(const at::Tensor& x, Activation activation) {
    switch (activation) {
        case Activation::silu:
            return at::silu(x);
        case Activation::gelu:
            return at::gelu(x);
        case Activation::gelu_tanh:
            return at::gelu(x, "tanh");
        case Activation::relu:
            return at::relu(x);
        case Activation::relu_squared:
            return at::relu(x).square_();
        case Activation::xielu:
            break;  // has parameters
    }
    return x;
}

at::Tensor activated(const at::Tensor& x, const Xielu& by) {
    const auto softplus = [](double alpha) { return std::log1p(std::exp(alpha)); };
    const at::Tensor above = x.square().mul_(softplus(by.alpha_p)),
                     below = x.clamp_max(by.epsilon).expm1_().sub_(x).mul_(by.beta + softplus(by.alpha_n));
    return at::where(x > 0, above, below).add_(x, by.beta);
}

at::Tensor capped(const at::Tensor& x, double cap) {
    return cap > 0 ? at::tanh(x / cap).mul_(cap) : x;
}

void limitGate(at::Tensor& gate, at::Tensor& up, double limit) {
    if (limit == 0) return;
    gate = gate.clamp_max(limit);
    up = up.clamp(-limit, limit);
}

}  // namespace roper
