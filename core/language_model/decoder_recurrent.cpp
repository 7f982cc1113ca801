#include <ATen/ATen.h>

#include <cmath>

#include "core/language_model/activated.h"
#include "core/language_model/decoder.h"

// Layers without attention. T tokens, C = width.
//
// The gated short convolution of LFM2 (arXiv 2511.23404, section 2.1). K taps w_k [C]:
//
//   (b, c, u) = W_in x,  s = b ⊙ u,  y_t = Σ_k w_k ⊙ s_{t − K + 1 + k},  out = W_out (c ⊙ y)
//
// Gated DeltaNet (Yang et al. 2024, arXiv 2412.06464) as Qwen3-Next computes it, with h value heads. A head's
// q and k [d] and v [w] are linear in x, then convolved and activated; q and k are normalized to length 1,
// and q is divided by √d. With α_t = exp(−A softplus(W_α x_t + b)) and β_t = σ(W_β x_t), the state S [d, w]
// becomes
//
//   S_t = α_t S_{t−1} + β_t k_t (v_t − α_t S_{t−1}ᵀ k_t)ᵀ,   o_t = S_tᵀ q_t
//
// and the output is W_o (norm(o) ⊙ silu(W_z x)).

namespace roper {
namespace {

/// x / √(Σ x² + ε)
at::Tensor ofLengthOne(const at::Tensor& x) {
    constexpr double kEpsilon = 1e-6;
    return x * x.square().sum(-1, /*keepdim=*/true).add_(kEpsilon).rsqrt_();
}

/// Inputs of the recurrence for some tokens: q, k [h, n, d], v [h, n, w], ln α, β [h, n]; in float64, so that
/// results do not depend on how a text is divided.
struct DeltaInputs {
    at::Tensor q, k, v, log_decay, beta;

    DeltaInputs part(std::int64_t begin, std::int64_t count) const {
        const auto of = [&](const at::Tensor& x) { return x.narrow(1, begin, count); };
        return {of(q), of(k), of(v), of(log_decay), of(beta)};
    }
};

/// Computes the outputs o [h, n, w] of n tokens at once, and replaces `state` S, before them, by S′, after
/// them (section 3.3 of the paper). With γ_i = ln α_1 + … + ln α_i and D_ij = exp(γ_i − γ_j) for j ≤ i,
///
///   (I + tril(β k kᵀ ⊙ D, −1)) u = β (v − exp(γ) k S),   o = exp(γ) q S + (q kᵀ ⊙ D) u,
///   S′ = exp(γ_n) S + (exp(γ_n − γ) k)ᵀ u
at::Tensor advance(const DeltaInputs& in, at::Tensor& state) {
    const at::Tensor total = in.log_decay.cumsum(1), growth = total.exp().unsqueeze(-1);  // γ, exp(γ)
    const at::Tensor between = (total.unsqueeze(2) - total.unsqueeze(1)).tril().exp().tril();
    const at::Tensor beta = in.beta.unsqueeze(-1), keys = in.k.transpose(1, 2);
    const at::Tensor system = at::bmm(in.k * beta, keys) * between;
    const at::Tensor corrections = at::linalg_solve_triangular(
        system, beta * (in.v - at::bmm(in.k * growth, state)), /*upper=*/false, /*left=*/true,
        /*unitriangular=*/true);
    at::Tensor out = at::bmm(in.q * growth, state) + at::bmm(at::bmm(in.q, keys) * between, corrections);
    const at::Tensor last = total.narrow(1, total.size(1) - 1, 1);
    state = state * last.exp().unsqueeze(-1) +
            at::bmm((in.k * (last - total).exp().unsqueeze(-1)).transpose(1, 2), corrections);
    return out;
}

}  // namespace

/// Σ_k w_k ⊙ x_{t − K + 1 + k} with K taps w
at::Tensor Decoder::convolved(const at::Tensor& x, const MatrixLocation& taps, std::int64_t layer,
                              const Pass& pass) {
    const std::int64_t T = x.size(0), K = taps.in;
    const bool continues = pass.cache != nullptr && pass.first > 0;
    const at::Tensor before = continues ? pass.cache->at(layer).convolved : at::zeros({K - 1, x.size(1)});
    const at::Tensor all = at::cat({before, x}), weights = weights_.matrix(taps);
    if (pass.cache != nullptr) pass.cache->at(layer).convolved = all.narrow(0, T, K - 1).clone();
    at::Tensor y = at::zeros_like(x);
    for (std::int64_t k = 0; k < K; ++k)
        y.add_(all.narrow(0, k, T) * weights.select(1, k));
    return y;
}

at::Tensor Decoder::shortConvolution(const at::Tensor& x, const ShortConvolutionWeights& by,
                                     std::int64_t layer, const Pass& pass) {
    const std::vector<at::Tensor> gates = linear(x, by.in).chunk(3, 1);
    at::Tensor y = convolved(gates[0] * gates[2], by.taps, layer, pass);
    if (by.bias) y.add_(weights_.vector(*by.bias));
    return linear(y.mul_(gates[1]), by.out);
}

at::Tensor Decoder::gatedDelta(const at::Tensor& x, const GatedDeltaWeights& by, std::int64_t layer,
                               const Pass& pass) {
    constexpr std::int64_t kAtOnce = 64;
    const Architecture& model = architecture();
    const GatedDelta& sizes = model.gated_delta;
    const std::int64_t T = x.size(0), repeats = sizes.value_heads / sizes.key_heads;
    std::vector<at::Tensor> parts;
    for (const LinearLocation& location : by.query_key_value)
        parts.push_back(linear(x, location));
    const at::Tensor mixed = activated(convolved(at::cat(parts, 1), by.taps, layer, pass), model.activation);
    const auto keysOf = [&](std::int64_t first) {  // [value heads, T, d]
        const at::Tensor all = ofLengthOne(mixed.narrow(1, first, sizes.keysWidth())
                                               .unflatten(1, {sizes.key_heads, sizes.key_dim})
                                               .transpose(0, 1));
        return sizes.is_tiled ? all.repeat({repeats, 1, 1}) : all.repeat_interleave(repeats, 0);
    };
    const auto ofHeads = [&](const at::Tensor& of) {
        return of.unflatten(1, {sizes.value_heads, sizes.value_dim}).transpose(0, 1);
    };
    const at::Tensor scale = weights_.vector(by.decay_scale);
    const at::Tensor rate = by.decay_is_log ? -scale.exp() : scale;
    const at::Tensor log_decay = rate * at::softplus(linear(x, by.decay) + weights_.vector(by.decay_bias));
    const auto exact = [](const at::Tensor& of) { return of.to(at::kDouble).contiguous(); };
    const DeltaInputs in{exact(keysOf(0)) / std::sqrt(static_cast<double>(sizes.key_dim)),
                         exact(keysOf(sizes.keysWidth())),
                         exact(ofHeads(mixed.narrow(1, 2 * sizes.keysWidth(), sizes.valuesWidth()))),
                         exact(log_decay.t()), exact(at::sigmoid(linear(x, by.beta)).t())};

    const bool continues = pass.cache != nullptr && pass.first > 0;
    at::Tensor state = continues
                           ? pass.cache->at(layer).state
                           : at::zeros({sizes.value_heads, sizes.key_dim, sizes.value_dim}, at::kDouble);
    std::vector<at::Tensor> outputs;
    for (std::int64_t begin = 0; begin < T; begin += kAtOnce)
        outputs.push_back(advance(in.part(begin, std::min(kAtOnce, T - begin)), state));
    if (pass.cache != nullptr) pass.cache->at(layer).state = state;

    const at::Tensor out = at::cat(outputs, 1).to(at::kFloat);
    const at::Tensor normed = out * out.square().mean(-1, true).add_(model.norm_epsilon).rsqrt_() *
                              weights_.vector(by.norm) * at::silu(ofHeads(linear(x, by.gate)));
    return linear(normed.transpose(0, 1).reshape({T, sizes.valuesWidth()}), by.out);
}

}  // namespace roper
