#include "core/operators/rotary_operator.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "core/kernels/rotation.h"
#include "core/operators/gpu.h"
#include "core/rotary/frequencies.h"

namespace roper {

at::Tensor rotateByTensorOps(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                             Pairing pairing, Direction direction) {
    const std::int64_t pairs = cosine.size(-1);
    const at::Tensor c = cosine.unsqueeze(-3);  // [1 or B×1, T, pairs]
    const at::Tensor s = (direction == Direction::forward ? sine : -sine).unsqueeze(-3);
    const at::Tensor rotating = x.narrow(-1, 0, 2 * pairs);
    const at::Tensor as_pairs = pairing == Pairing::half
                                    ? rotating.unflatten(-1, {2, pairs}).transpose(-1, -2)
                                    : rotating.unflatten(-1, {pairs, 2});
    const at::Tensor x1 = as_pairs.select(-1, 0), x2 = as_pairs.select(-1, 1);
    const at::Tensor y1 = x1 * c - x2 * s, y2 = x2 * c + x1 * s;
    const at::Tensor rotated =
        (pairing == Pairing::half ? at::cat({y1, y2}, -1) : at::stack({y1, y2}, -1).flatten(-2))
            .to(x.scalar_type());
    const std::int64_t rest = x.size(-1) - 2 * pairs;
    return rest == 0 ? rotated : at::cat({rotated, x.narrow(-1, 2 * pairs, rest)}, -1);
}

namespace {

/// R(±m)x for the heads of one token in float64, like `rotateRows` of core/kernels in float32.
void rotateRows(const double* from, std::int64_t from_stride, double* to, std::int64_t to_stride,
                std::size_t rows, std::size_t d, Pairing pairing, const double* cosine, const double* sine,
                std::size_t pairs, double sign) {
    const std::size_t next = pairing == Pairing::half ? 1 : 2, partner = pairing == Pairing::half ? pairs : 1;
    for (std::size_t row = 0; row < rows; ++row, from += from_stride, to += to_stride) {
        for (std::size_t i = 0; i < pairs; ++i) {
            const double x1 = from[i * next], x2 = from[i * next + partner];
            to[i * next] = x1 * cosine[i] - sign * x2 * sine[i];
            to[i * next + partner] = x2 * cosine[i] + sign * x1 * sine[i];
        }
        std::copy(from + 2 * pairs, from + d, to + 2 * pairs);
    }
}

/// Rotates in one pass over x on the CPU.
template <class Scalar>
void rotateOnCpu(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                 Direction direction, at::Tensor& out) {
    const std::int64_t B = x.size(0), T = x.size(2), pairs = cosine.size(-1);
    const std::int64_t table_batch = cosine.dim() == 3 ? cosine.stride(0) : 0;
    const Scalar* const x_data = x.const_data_ptr<Scalar>();
    const Scalar* const cosine_data = cosine.const_data_ptr<Scalar>();
    const Scalar* const sine_data = sine.const_data_ptr<Scalar>();
    Scalar* const out_data = out.mutable_data_ptr<Scalar>();
    const Scalar sign = direction == Direction::forward ? Scalar(1) : Scalar(-1);
    const auto in = x.strides(), to = out.strides();
    at::parallel_for(0, B * T, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const std::int64_t b = row / T, t = row % T, angles = b * table_batch + t * pairs;
            rotateRows(x_data + b * in[0] + t * in[2], in[1], out_data + b * to[0] + t * to[2], to[1],
                       static_cast<std::size_t>(x.size(1)), static_cast<std::size_t>(x.size(3)), pairing,
                       cosine_data + angles, sine_data + angles, static_cast<std::size_t>(pairs), sign);
        }
    });
}

/// An uninitialized tensor [B, H, T, d], laid out in memory as [B, T, H, d], the layout of the projections q, k and v.
at::Tensor emptyHeads(const at::Tensor& like) {
    return at::empty({like.size(0), like.size(2), like.size(1), like.size(3)}, like.options())
        .transpose(1, 2);
}

at::Tensor withDenseRows(const at::Tensor& x) {
    return x.stride(3) == 1 ? x : x.contiguous();
}

/// Whether the GPU's own kernel supports this rotation.
bool rotatesOnGpu(const at::Tensor& x, const at::Tensor& cosine) {
    return gpu() != nullptr && x.device().type() == gpu()->deviceType() && cosine.dim() == 2 &&
           cosine.scalar_type() == at::kFloat && x.size(3) % 2 == 0 &&
           (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16);
}

at::Tensor rotateForward(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                         Pairing pairing, Direction direction) {
    RECORD_USER_SCOPE("attention: rotation");
    if (rotatesOnGpu(x, cosine)) {
        const at::Tensor out = emptyHeads(x);
        gpu()->rotate({{withDenseRows(x), out, cosine, sine}}, pairing, direction);
        return out;
    }
    const bool has_cpu_kernel =
        x.is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble) &&
        cosine.scalar_type() == x.scalar_type() && cosine.is_contiguous() && sine.is_contiguous();
    if (!has_cpu_kernel) return rotateByTensorOps(x, cosine, sine, pairing, direction);
    at::Tensor out = emptyHeads(x);
    if (x.scalar_type() == at::kFloat)
        rotateOnCpu<float>(withDenseRows(x), cosine, sine, pairing, direction, out);
    else
        rotateOnCpu<double>(withDenseRows(x), cosine, sine, pairing, direction, out);
    return out;
}

class RotateFunction : public torch::autograd::Function<RotateFunction> {
  public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                              const at::Tensor& cosine, const at::Tensor& sine, std::int64_t pairing,
                              std::int64_t direction) {
        context->saved_data["cosine"] = cosine;
        context->saved_data["sine"] = sine;
        context->saved_data["pairing"] = pairing;
        context->saved_data["direction"] = direction;
        return rotateForward(x, cosine, sine, static_cast<Pairing>(pairing),
                             static_cast<Direction>(direction));
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        const auto direction = static_cast<Direction>(context->saved_data["direction"].toInt());
        const Direction opposite = direction == Direction::forward ? Direction::inverse : Direction::forward;
        const at::Tensor gradient = rotateForward(
            gradients[0], context->saved_data["cosine"].toTensor(), context->saved_data["sine"].toTensor(),
            static_cast<Pairing>(context->saved_data["pairing"].toInt()), opposite);
        return {gradient, {}, {}, {}, {}};
    }
};

class RotateHeadsFunction : public torch::autograd::Function<RotateHeadsFunction> {
  public:
    static torch::autograd::tensor_list forward(torch::autograd::AutogradContext* context,
                                                const at::Tensor& qkv, const CosSin& queries,
                                                const CosSin& keys, const CosSin& values,
                                                std::int64_t pairing) {
        context->saved_data["tables"] = std::vector<at::Tensor>{queries.cosine, queries.sine,  keys.cosine,
                                                                keys.sine,      values.cosine, values.sine};
        context->saved_data["pairing"] = pairing;
        const CosSin* const tables[] = {&queries, &keys, &values};
        std::vector<HeadRotation> parts;
        for (std::int64_t part = 0; part < 3; ++part) {
            const at::Tensor from = withDenseRows(qkv.select(0, part));
            parts.push_back({from, emptyHeads(from), tables[part]->cosine, tables[part]->sine});
        }
        gpu()->rotate(parts, static_cast<Pairing>(pairing), Direction::forward);
        return {parts[0].to, parts[1].to, parts[2].to};
    }

    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list gradients) {
        const std::vector<at::Tensor> tables = context->saved_data["tables"].toTensorVector();
        const at::Tensor& like = gradients[0];
        // Memory layout of q, k and v of a layer: [B, T, 3, H, d].
        const at::Tensor made =
            at::empty({like.size(0), like.size(2), 3, like.size(1), like.size(3)}, like.options())
                .permute({2, 0, 3, 1, 4});
        std::vector<HeadRotation> parts;
        for (std::size_t part = 0; part < 3; ++part)
            parts.push_back({withDenseRows(gradients[part]), made.select(0, static_cast<std::int64_t>(part)),
                             tables[2 * part], tables[2 * part + 1]});
        gpu()->rotate(parts, static_cast<Pairing>(context->saved_data["pairing"].toInt()),
                      Direction::inverse);
        return {made, {}, {}, {}, {}};
    }
};

}  // namespace

CosSin makeCosSinTable(const Rotary& rotary, std::int64_t first, std::int64_t T,
                       const at::TensorOptions& options) {
    at::Tensor angle = at::empty({T, rotary.pairs()}, at::kDouble);
    auto values = angle.accessor<double, 2>();
    for (std::int64_t t = 0; t < T; ++t)
        for (int i = 0; i < rotary.pairs(); ++i)
            values[t][i] = static_cast<double>(first + t) * rotary.theta[i];
    return {angle.cos().to(options), angle.sin().to(options)};
}

at::Tensor makeDecayTable(
    const std::function<double(int pair, int pairs, double position, bool is_query)>& decay, int pairs,
    std::int64_t first, std::int64_t T, bool is_query) {
    at::Tensor factors = at::empty({T, pairs}, at::kDouble);
    auto values = factors.accessor<double, 2>();
    for (std::int64_t t = 0; t < T; ++t)
        for (int pair = 0; pair < pairs; ++pair)
            values[t][pair] = decay(pair, pairs, static_cast<double>(first + t), is_query);
    return factors;
}

at::Tensor makeSinusoidTable(std::int64_t first, std::int64_t T, std::int64_t C, double base,
                             const at::TensorOptions& options) {
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> table =
        sinusoidTable(static_cast<int>(T), static_cast<int>(C), base, static_cast<int>(first));
    return at::from_blob(table.data(), {T, C}, at::kDouble)
        .to(options, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                  Direction direction) {
    TORCH_CHECK(x.dim() == 4 && 2 * cosine.size(-1) <= x.size(3) && cosine.size(-2) == x.size(2),
                "rotate: x ", x.sizes(), " does not fit a table of ", cosine.sizes());
    if (cosine.size(-1) == 0) return x;
    if (cosine.requires_grad()) return rotateByTensorOps(x, cosine, sine, pairing, direction);
    return RotateFunction::apply(x, cosine, sine, static_cast<std::int64_t>(pairing),
                                 static_cast<std::int64_t>(direction));
}

RotatedHeads rotateHeads(const at::Tensor& qkv, const CosSin& queries, const CosSin& keys,
                         const CosSin& values, Pairing pairing) {
    const CosSin* const tables[] = {&queries, &keys, &values};
    const bool on_gpu = std::all_of(std::begin(tables), std::end(tables), [&](const CosSin* table) {
        return !table->cosine.requires_grad() && rotatesOnGpu(qkv[0], table->cosine);
    });
    if (on_gpu) {
        const torch::autograd::tensor_list rotated =
            RotateHeadsFunction::apply(qkv, queries, keys, values, static_cast<std::int64_t>(pairing));
        return {rotated[0], rotated[1], rotated[2]};
    }
    return {rotate(qkv[0], queries.cosine, queries.sine, pairing),
            rotate(qkv[1], keys.cosine, keys.sine, pairing),
            rotate(qkv[2], values.cosine, values.sine, pairing)};
}

at::Tensor pairNorms(const at::Tensor& x, Pairing pairing, std::int64_t pairs, std::int64_t first) {
    const std::int64_t r = 2 * pairs, rest = x.size(-1) - r;
    if (first > 0) return pairNorms(x.roll({r}, {-1}), pairing, pairs);  // the rotating features first
    const auto lengths = [](const at::Tensor& a, const at::Tensor& b) {
        return (a.square() + b.square()).sqrt_().mean(-2);
    };
    const auto ofNeighbors = [&](at::Tensor features) {
        if (features.size(-1) % 2 != 0) features = at::constant_pad_nd(features, {0, 1});
        const at::Tensor as_pairs = features.unflatten(-1, {features.size(-1) / 2, 2});
        return lengths(as_pairs.select(-1, 0), as_pairs.select(-1, 1));
    };
    const at::Tensor rotated = pairing == Pairing::half
                                   ? lengths(x.narrow(-1, 0, pairs), x.narrow(-1, pairs, pairs))
                                   : ofNeighbors(x.narrow(-1, 0, r));
    return rest == 0 ? rotated : at::cat({rotated, ofNeighbors(x.narrow(-1, r, rest))}, -1);
}

}  // namespace roper
