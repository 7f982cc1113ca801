#include "core/operators/dense.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/kernels/rows.h"
#include "core/operators/products.h"
#include "core/operators/tensor_data.h"

namespace roper {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

/// Sums over rows are computed in a fixed number of parts, so that results do not depend on the number of
/// threads.
constexpr std::int64_t kParts = 64;

/// Divides M rows into parts and calls work(part, first row, number of rows) for each.
template <class Work>
void forEachPart(std::int64_t M, Work work) {
    const std::int64_t part_rows = (M + kParts - 1) / kParts;
    at::parallel_for(0, kParts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part)
            if (part * part_rows < M) work(part, part * part_rows, std::min(part_rows, M - part * part_rows));
    });
}

float* dataOf(const at::Tensor& tensor) {
    return typedData<float>(tensor);
}

std::size_t sizeOf(std::int64_t size) {
    return static_cast<std::size_t>(size);
}

/// [..., C] → [M, C]
at::Tensor rowsOf(const at::Tensor& x) {
    return x.reshape({-1, x.size(-1)}).contiguous();
}

/// rows [M, C] in the leading shape of x [..., any width]: [..., C]
at::Tensor inShapeOf(const at::Tensor& x, const at::Tensor& rows) {
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = rows.size(1);
    return rows.view(shape);
}

/// Sums over M rows of N numbers: work(sums [N], first row, number of rows) adds the rows of a part. → [N]
template <class Work>
at::Tensor sumsOverRows(std::int64_t M, std::int64_t N, Work work) {
    const at::Tensor parts = at::zeros({kParts, N}, at::kFloat);
    forEachPart(M, [&, sums = dataOf(parts)](std::int64_t part, std::int64_t first, std::int64_t rows) {
        work(sums + part * N, first, rows);
    });
    return parts.sum(0);
}

/// Sums of the columns of a gradient [M, N] → [N]
at::Tensor columnSums(const at::Tensor& gradient) {
    RECORD_USER_SCOPE("elementwise: sums");
    const std::int64_t M = gradient.size(0), N = gradient.size(1);
    return dispatchType(gradient, [&](auto number) {
        const auto* const from = typedData<decltype(number)>(gradient);
        const auto& kernels = rowKernels<decltype(number)>();
        return sumsOverRows(M, N, [&](float* sums, std::int64_t first, std::int64_t rows) {
            kernels.add(from + first * N, sizeOf(rows), sizeOf(N), sums);
        });
    });
}

/// act(a·b + bias) + added, as in `multiplyInto`, in the given type. a [M, K], b [K, N] → [M, N]
at::Tensor product(at::ScalarType type, const at::Tensor& a, const at::Tensor& b, const at::Tensor& bias = {},
                   const at::Tensor& added = {}, bool relu = false) {
    const at::Tensor result = at::empty({a.size(0), b.size(1)}, a.options().dtype(type));
    multiplyInto(result, a, b, bias, added, relu);
    return result;
}

/// Autograd functions accept no undefined tensors; an empty one replaces them.
at::Tensor orEmpty(const at::Tensor& tensor, const at::Tensor& like) {
    return tensor.defined() ? tensor : at::empty({0}, like.options().dtype(at::kFloat));
}

/// The inverse of `orEmpty`, as rows.
at::Tensor addedOf(const at::Tensor& residual) {
    return residual.numel() > 0 ? rowsOf(residual) : at::Tensor();
}

// If x is bfloat16, so are the factors of all products, including weights, and activations between layers.
// Sums over layers or steps are float32: residuals, gradients of parameters.

class LinearFunction : public torch::autograd::Function<LinearFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                              const at::Tensor& bias, const at::Tensor& residual, at::ScalarType out) {
        const at::Tensor rows = rowsOf(x), factor = weight.to(x.scalar_type());
        context->save_for_backward({rows, factor});
        context->saved_data["residual"] = residual.numel() > 0;
        return inShapeOf(x, product(out, rows, factor.t(), bias, addedOf(residual)));
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &rows = saved[0], &weight = saved[1];
        const at::Tensor gradient = rowsOf(gradients[0]), factor = gradient.to(rows.scalar_type());
        at::Tensor grad_x;
        if (context->needs_input_grad(0))
            grad_x = inShapeOf(gradients[0], product(rows.scalar_type(), factor, weight));
        return {grad_x,
                product(at::kFloat, factor.t(), rows),
                columnSums(gradient),
                context->saved_data["residual"].toBool() ? gradients[0] : at::Tensor(),
                {}};
    }
};

class FeedForwardFunction : public torch::autograd::Function<FeedForwardFunction> {
  public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& up_weight,
                              const at::Tensor& up_bias, const at::Tensor& down_weight,
                              const at::Tensor& down_bias, bool gelu, const at::Tensor& residual) {
        const at::ScalarType type = x.scalar_type();
        const at::Tensor rows = rowsOf(x), up = up_weight.to(type), down = down_weight.to(type);
        const at::Tensor hidden = product(type, rows, up.t(), up_bias, {}, /*relu=*/!gelu);
        const at::Tensor active = gelu ? geluOf(hidden) : hidden;
        context->save_for_backward({rows, up, down, hidden, active});
        context->saved_data["gelu"] = gelu;
        context->saved_data["residual"] = residual.numel() > 0;
        return inShapeOf(x, product(at::kFloat, active, down.t(), down_bias, addedOf(residual)));
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &rows = saved[0], &up = saved[1], &down = saved[2], &hidden = saved[3],
                         &active = saved[4];
        const at::ScalarType type = rows.scalar_type();
        const at::Tensor gradient = rowsOf(gradients[0]), factor = gradient.to(type);
        const at::Tensor grad_hidden = product(type, factor, down);
        const at::Tensor grad_up_bias =
            throughActivation(context->saved_data["gelu"].toBool(), hidden, grad_hidden);
        return {inShapeOf(gradients[0], product(type, grad_hidden, up)),
                product(at::kFloat, grad_hidden.t(), rows),
                grad_up_bias,
                product(at::kFloat, factor.t(), active),
                columnSums(gradient),
                {},
                context->saved_data["residual"].toBool() ? gradients[0] : at::Tensor()};
    }

  private:
    static at::Tensor geluOf(const at::Tensor& x) {
        RECORD_USER_SCOPE("elementwise: gelu");
        const at::Tensor out = at::empty_like(x);
        const std::int64_t F = x.size(1);
        dispatchType(x, [&](auto number) {
            auto *const from = typedData<decltype(number)>(x), *const to = typedData<decltype(number)>(out);
            const auto& kernels = rowKernels<decltype(number)>();
            forEachPart(x.size(0), [&](std::int64_t, std::int64_t first, std::int64_t rows) {
                kernels.gelu(from + first * F, sizeOf(rows * F), to + first * F);
            });
        });
        return out;
    }

    /// The backward pass of GELU or ReLU: changes a gradient [M, F] in place. @returns its column sums [F]
    /// @param hidden  input of GELU, or output of ReLU: [M, F]
    static at::Tensor throughActivation(bool gelu, const at::Tensor& hidden, const at::Tensor& gradient) {
        RECORD_USER_SCOPE("elementwise: activation backward");
        const std::int64_t F = hidden.size(1);
        return dispatchType(hidden, [&](auto number) {
            using Number = decltype(number);
            auto *const from = typedData<Number>(hidden), *const to = typedData<Number>(gradient);
            const auto back = gelu ? rowKernels<Number>().gelu_backward : rowKernels<Number>().relu_backward;
            return sumsOverRows(hidden.size(0), F, [&](float* sums, std::int64_t first, std::int64_t rows) {
                back(from + first * F, sizeOf(rows), sizeOf(F), to + first * F, sums);
            });
        });
    }
};

class NormFunction : public torch::autograd::Function<NormFunction> {
  public:
    static tensor_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                               const at::Tensor& bias, double epsilon, at::ScalarType type) {
        RECORD_USER_SCOPE("elementwise: norm");
        const at::Tensor rows = rowsOf(x);
        const at::Tensor normal = at::empty_like(x, x.options().dtype(type), at::MemoryFormat::Contiguous);
        const std::int64_t M = rows.size(0), C = rows.size(1);
        const at::Tensor means = at::empty({M}, x.options()),
                         inverse_deviations = at::empty({M}, x.options());
        dispatchType(normal, [&](auto number) {
            auto* const to = typedData<decltype(number)>(normal);
            const auto& kernels = rowKernels<decltype(number)>();
            forEachPart(M, [&, from = dataOf(rows), mean = dataOf(means),
                            inverse = dataOf(inverse_deviations)](std::int64_t, std::int64_t first,
                                                                  std::int64_t count) {
                kernels.normalize(from + first * C, dataOf(weight), dataOf(bias), static_cast<float>(epsilon),
                                  sizeOf(count), sizeOf(C), to + first * C, mean + first, inverse + first);
            });
        });
        context->save_for_backward({rows, weight, means, inverse_deviations});
        context->set_materialize_grads(false);
        return {x, normal};
    }

    static tensor_list backward(AutogradContext* context, tensor_list gradients) {
        RECORD_USER_SCOPE("elementwise: norm backward");
        const tensor_list saved = context->get_saved_variables();
        const at::Tensor &rows = saved[0], &weight = saved[1], &means = saved[2],
                         &inverse_deviations = saved[3];
        const std::int64_t M = rows.size(0), C = rows.size(1);
        // the normalized output is unused
        if (!gradients[1].defined()) return {gradients[0], {}, {}, {}, {}};
        const at::Tensor normal_gradient = rowsOf(gradients[1]);
        const at::Tensor residual_gradient = gradients[0].defined() ? rowsOf(gradients[0]) : at::Tensor();
        const at::Tensor grad_x = at::empty(gradients[1].sizes(), rows.options());
        const at::Tensor weights = at::zeros({kParts, C}, rows.options()), biases = at::zeros_like(weights);
        const float* const residual_data = residual_gradient.defined() ? dataOf(residual_gradient) : nullptr;
        dispatchType(normal_gradient, [&](auto number) {
            const auto* const g = typedData<decltype(number)>(normal_gradient);
            const auto& kernels = rowKernels<decltype(number)>();
            forEachPart(M, [&, from = dataOf(rows), to = dataOf(grad_x)](
                               std::int64_t part, std::int64_t first, std::int64_t count) {
                kernels.normalize_backward(from + first * C, dataOf(weight), dataOf(means) + first,
                                           dataOf(inverse_deviations) + first, g + first * C,
                                           residual_data != nullptr ? residual_data + first * C : nullptr,
                                           sizeOf(count), sizeOf(C), to + first * C,
                                           dataOf(weights) + part * C, dataOf(biases) + part * C);
            });
        });
        return {grad_x, weights.sum(0), biases.sum(0), {}, {}};
    }
};

}  // namespace

at::Tensor denseLinear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       at::ScalarType out, const at::Tensor& residual) {
    return LinearFunction::apply(x, weight, bias, orEmpty(residual, x), out);
}

at::Tensor denseFeedForward(const at::Tensor& x, const at::Tensor& up_weight, const at::Tensor& up_bias,
                            const at::Tensor& down_weight, const at::Tensor& down_bias, bool gelu,
                            const at::Tensor& residual) {
    return FeedForwardFunction::apply(x, up_weight, up_bias, down_weight, down_bias, gelu,
                                      orEmpty(residual, x));
}

Normalized denseNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, double epsilon,
                     at::ScalarType type) {
    const tensor_list result = NormFunction::apply(x, weight, bias, epsilon, type);
    return {result[0], result[1]};
}

}  // namespace roper
