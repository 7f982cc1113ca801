#include "core/language_model/activated.h"

#include <ATen/ATen.h>

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
    }
    return x;
}

}  // namespace roper
