#include "core/model/rotary_operator.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

namespace roper {
namespace {

/// Steps through memory from one pair, and within a pair, to the next feature.
struct PairStrides {
    std::int64_t next_pair;
    std::int64_t partner;
};

PairStrides stridesOf(Pairing pairing, std::int64_t pairs) {
    return pairing == Pairing::half ? PairStrides{1, pairs} : PairStrides{2, 1};
}

/// One pass over x on the CPU. sign is +1 for R(m) and −1 for R(−m).
template <class Scalar>
void rotateOnCpu(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                 Scalar sign, at::Tensor& out) {
    const std::int64_t B = x.size(0), H = x.size(1), T = x.size(2), d = x.size(3);
    const std::int64_t pairs = cosine.size(-1);
    const std::int64_t table_batch = cosine.dim() == 3 ? cosine.stride(0) : 0;
    const auto [next_pair, partner] = stridesOf(pairing, pairs);
    const Scalar* x_data = x.const_data_ptr<Scalar>();
    const Scalar* cosine_data = cosine.const_data_ptr<Scalar>();
    const Scalar* sine_data = sine.const_data_ptr<Scalar>();
    Scalar* out_data = out.mutable_data_ptr<Scalar>();
    const auto in = x.strides();
    const auto to = out.strides();
    at::parallel_for(0, B * T, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t b = row / T, t = row % T;
            const Scalar* c = cosine_data + b * table_batch + t * pairs;
            const Scalar* s = sine_data + b * table_batch + t * pairs;
            for (std::int64_t h = 0; h < H; ++h) {
                const Scalar* from = x_data + b * in[0] + h * in[1] + t * in[2];
                Scalar* target = out_data + b * to[0] + h * to[1] + t * to[2];
                for (std::int64_t i = 0; i < pairs; ++i) {
                    const Scalar x1 = from[i * next_pair], x2 = from[i * next_pair + partner];
                    target[i * next_pair] = x1 * c[i] - sign * x2 * s[i];
                    target[i * next_pair + partner] = x2 * c[i] + sign * x1 * s[i];
                }
                std::copy(from + 2 * pairs, from + d, target + 2 * pairs);
            }
        }
    });
}

/// The same by tensor operations, for every device and type.
at::Tensor rotateByTensorOps(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                             Pairing pairing, Turn turn) {
    const std::int64_t pairs = cosine.size(-1);
    const at::Tensor c = cosine.unsqueeze(-3).to(x.scalar_type());  // [1 or B×1, T, pairs]
    const at::Tensor s = (turn == Turn::forward ? sine : -sine).unsqueeze(-3).to(x.scalar_type());
    const at::Tensor turning = x.narrow(-1, 0, 2 * pairs);
    const at::Tensor as_pairs = pairing == Pairing::half ? turning.unflatten(-1, {2, pairs}).transpose(-1, -2)
                                                         : turning.unflatten(-1, {pairs, 2});
    const at::Tensor x1 = as_pairs.select(-1, 0), x2 = as_pairs.select(-1, 1);
    const at::Tensor y1 = x1 * c - x2 * s, y2 = x2 * c + x1 * s;
    const at::Tensor turned =
        pairing == Pairing::half ? at::cat({y1, y2}, -1) : at::stack({y1, y2}, -1).flatten(-2);
    return at::cat({turned, x.narrow(-1, 2 * pairs, x.size(-1) - 2 * pairs)}, -1);
}

at::Tensor rotateForward(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                         Pairing pairing, Turn turn) {
    RECORD_USER_SCOPE("attention: rotation");
    const bool plain = x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) &&
                       cosine.scalar_type() == x.scalar_type() && cosine.is_contiguous() &&
                       sine.is_contiguous();
    if (!plain) return rotateByTensorOps(x, cosine, sine, pairing, turn);
    const at::Tensor source = x.stride(3) == 1 ? x : x.contiguous();
    at::Tensor out = at::empty({x.size(0), x.size(2), x.size(1), x.size(3)}, x.options()).transpose(1, 2);
    if (x.scalar_type() == at::kFloat)
        rotateOnCpu<float>(source, cosine, sine, pairing, turn == Turn::forward ? 1.0F : -1.0F, out);
    else
        rotateOnCpu<double>(source, cosine, sine, pairing, turn == Turn::forward ? 1.0 : -1.0, out);
    return out;
}

class RotateFunction : public torch::autograd::Function<RotateFunction> {
  public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& cosine, const at::Tensor& sine, std::int64_t pairing,
                              std::int64_t turn) {
        context->saved_data["cosine"] = cosine;
        context->saved_data["sine"] = sine;
        context->saved_data["pairing"] = pairing;
        context->saved_data["turn"] = turn;
        return rotateForward(x, cosine, sine, static_cast<Pairing>(pairing), static_cast<Turn>(turn));
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        const auto turn = static_cast<Turn>(context->saved_data["turn"].toInt());
        const Turn opposite = turn == Turn::forward ? Turn::back : Turn::forward;
        const at::Tensor gradient = rotateForward(
            gradients[0], context->saved_data["cosine"].toTensor(), context->saved_data["sine"].toTensor(),
            static_cast<Pairing>(context->saved_data["pairing"].toInt()), opposite);
        return {gradient, {}, {}, {}, {}};
    }
};

}  // namespace

RotaryTable makeRotaryTable(const Rotary& rotary, std::int64_t positions, const at::TensorOptions& options) {
    at::Tensor angle = at::empty({positions, rotary.pairs()}, at::kDouble);
    auto values = angle.accessor<double, 2>();
    for (std::int64_t m = 0; m < positions; ++m)
        for (int i = 0; i < rotary.pairs(); ++i)
            values[m][i] = static_cast<double>(m) * rotary.theta[i];
    return {angle.cos().to(options), angle.sin().to(options), rotary.pairing};
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                  Turn turn) {
    TORCH_CHECK(x.dim() == 4 && 2 * cosine.size(-1) <= x.size(3) && cosine.size(-2) == x.size(2),
                "rotate: x ", x.sizes(), " does not fit a table of ", cosine.sizes());
    if (cosine.size(-1) == 0) return x;
    if (cosine.requires_grad()) return rotateByTensorOps(x, cosine, sine, pairing, turn);
    return RotateFunction::apply(x, cosine, sine, static_cast<std::int64_t>(pairing),
                                 static_cast<std::int64_t>(turn));
}

}  // namespace roper
