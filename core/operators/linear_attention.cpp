#include "core/operators/linear_attention.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace roper {
namespace {

enum class Over { earlier, later };  ///< positions j ≤ n or j ≥ n

/// Σ_j (a_n·b_j) c_j over j ≤ n, or over j ≥ n, in chunks of tokens: all products a_n·b_j within a chunk are
/// computed; b_j c_jᵀ of chunks already processed are summed in one matrix per head. a, b [B, H, T, d],
/// c [B, H, T, e] → [B, H, T, e]
at::Tensor runningProduct(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, Over over) {
    constexpr std::int64_t kChunk = 64;
    const std::int64_t T = a.size(2), chunks = (T + kChunk - 1) / kChunk;
    at::Tensor out = at::empty({a.size(0), a.size(1), T, c.size(3)}, c.options());
    at::Tensor sum = at::zeros({a.size(0), a.size(1), b.size(3), c.size(3)}, c.options());
    for (std::int64_t i = 0; i < chunks; ++i) {
        const std::int64_t first = (over == Over::earlier ? i : chunks - 1 - i) * kChunk;
        const std::int64_t count = std::min(kChunk, T - first);
        const at::Tensor a_part = a.narrow(2, first, count), b_transposed = b.narrow(2, first, count).mT(),
                         c_part = c.narrow(2, first, count);
        const at::Tensor pairs = at::matmul(a_part, b_transposed);
        out.narrow(2, first, count)
            .copy_(at::matmul(over == Over::earlier ? pairs.tril() : pairs.triu(), c_part) +
                   at::matmul(a_part, sum));
        sum += at::matmul(b_transposed, c_part);
    }
    return out;
}

class CausalProduct : public torch::autograd::Function<CausalProduct> {
  public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& q,
                              const at::Tensor& k, const at::Tensor& v) {
        context->save_for_backward({q, k, v});
        return runningProduct(q, k, v, Over::earlier);
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        const torch::autograd::variable_list saved = context->get_saved_variables();
        const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &g = gradients[0];
        return {runningProduct(g, v, k, Over::earlier), runningProduct(v, g, q, Over::later),
                runningProduct(k, q, g, Over::later)};
    }
};

}  // namespace

at::Tensor causalProduct(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    TORCH_CHECK(q.dim() == 4 && q.sizes() == k.sizes() && v.dim() == 4 && v.size(2) == q.size(2),
                "causalProduct: q ", q.sizes(), ", k ", k.sizes(), " and v ", v.sizes(),
                " have incompatible shapes");
    return CausalProduct::apply(q, k, v);
}

at::Tensor featureMap(AttentionKind kind, const at::Tensor& x) {
    switch (kind) {
        case AttentionKind::linear_numerator:
            return at::elu(x) + 1;
        case AttentionKind::linear_cosine:
            return x / at::linalg_vector_norm(x, 2, {-1}, /*keepdim=*/true).clamp_min(kMinDenominator);
        case AttentionKind::softmax:
            return x;
    }
    TORCH_CHECK(false, "featureMap: unknown attention kind");
}

}  // namespace roper
