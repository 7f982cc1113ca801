#include <ATen/ATen.h>

#include <cmath>

#include "core/language_model/decoder.h"

// Alternating updates (Baykal et al. 2023, arXiv 2301.13310) as Gemma 3n computes them, and its learned
// augmented residual (Menghani et al. 2024, arXiv 2411.07501). T tokens, C = width, S streams h_0 … h_{S−1},
// of which a layer computes h_a:
//
//   predicted_i = h_i + Σ_j P(m(h_a))_ij h_j
//   computed    = block(predicted_a)
//   corrected_i = predicted_i + (1 + Q(m(computed))_i) (computed − predicted_a)
//   m(x)        = tanh(W norm(x) / C)  [S]

namespace roper {
namespace {

/// x [T, C] with the length of every token of `as`: √mean(as²) / √mean(x²) times x.
at::Tensor withLengthsOf(const at::Tensor& as, const at::Tensor& x) {
    constexpr double kMinMeanSquare = 1e-5;
    const auto meanSquare = [](const at::Tensor& of) { return of.square().mean(-1, /*keepdim=*/true); };
    return x * meanSquare(as).sqrt() / meanSquare(x).clamp_min(kMinMeanSquare).sqrt();
}

}  // namespace

/// The embeddings x [T, C] and a linear map of them for every further stream, of equal length → [S, T, C]
at::Tensor Decoder::splitStreams(const at::Tensor& x) {
    std::vector<at::Tensor> streams{x};
    for (const LinearLocation& location : model_.weights.streams_in)
        streams.push_back(withLengthsOf(x, linear(x, location)));
    return at::stack(streams);
}

/// The mean of the first stream and a linear map of every other one, of equal length → [T, C]
at::Tensor Decoder::joinStreams(const at::Tensor& streams) {
    const at::Tensor first = streams.select(0, 0);
    at::Tensor sum = first.clone();
    std::int64_t stream = 1;
    for (const LinearLocation& location : model_.weights.streams_out)
        sum.add_(withLengthsOf(first, linear(streams.select(0, stream++), location)));
    return sum.div_(static_cast<double>(streams.size(0)));
}

/// m(x) [T, S]. x [T, C]
at::Tensor Decoder::streamWeights(const at::Tensor& x, const AltUpWeights& by) {
    return at::tanh(linear(norm(x, by.router_norm) / static_cast<double>(architecture().width), by.router));
}

/// x + norm(W_r W_l x). x [T, C]
at::Tensor Decoder::learnedResidual(const at::Tensor& x, const LaurelWeights& by) {
    return x + norm(linear(linear(x, by.left), by.right), by.norm);
}

/// One layer: streams [S, T, C] → the same.
at::Tensor Decoder::alternatingBlock(const at::Tensor& streams, const BlockWeights& block, std::int64_t layer,
                                     const Pass& pass) {
    const AlternatingUpdates& altup = architecture().altup;
    const AltUpWeights& by = *block.altup;
    const std::int64_t S = altup.streams, T = pass.tokens;
    const at::Tensor mixing =
        linear(streamWeights(streams.select(0, altup.active), by), by.predict).view({T, S, S});
    const at::Tensor predicted = streams + at::einsum("tij,jtc->itc", {mixing, streams}),
                     active = predicted.select(0, altup.active);

    const at::Tensor normed = norm(active, *block.attention_norm);
    const at::Tensor attended = norm(attention(normed, layer, pass), *block.after_attention_norm),
                     between = (active + attended + learnedResidual(normed, *block.laurel)) / std::sqrt(2.0),
                     input = norm(between, *block.feed_forward_norm);
    const at::Tensor computed =
        between + norm(feedForwardOf(layer, input, between, pass), *block.after_feed_forward_norm);

    const at::Tensor shares = linear(streamWeights(computed, by), by.correct).add_(1).t().unsqueeze(-1);
    at::Tensor corrected = predicted + shares * (computed - active);
    at::Tensor gating = corrected.select(0, altup.active);
    if (by.scale) gating = gating * weights_.vector(*by.scale);
    corrected.narrow(0, 1, S - 1).add_(gatedLayerEmbedding(gating, *block.layer_embedding, layer, pass));
    return corrected;
}

}  // namespace roper
