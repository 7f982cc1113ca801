#include <ATen/ATen.h>

#include <cmath>

#include "core/language_model/decoder.h"

// Models with several residual streams for each token.
//
// Alternating updates (Baykal et al. 2023, arXiv 2301.13310) as Gemma 3n computes them, and its learned
// augmented residual (Menghani et al. 2024, arXiv 2411.07501). T tokens, C = width, S streams h_0 … h_{S−1},
// of which a layer computes h_a:
//
//   predicted_i = h_i + Σ_j P(m(h_a))_ij h_j
//   computed    = block(predicted_a)
//   corrected_i = predicted_i + (1 + Q(m(computed))_i) (computed − predicted_a)
//   m(x)        = tanh(W norm(x) / C)  [S]
//
// Manifold-constrained hyper-connections (Xie et al. 2025, arXiv 2512.24880) around a layer F, which is a
// norm followed by attention or by the feed-forward network. With the concatenated streams x [S·C] of a
// token:
//
//   (r, w, M) = s ⊙ (W norm(x)) + b   of shapes [S], [S] and [S, S], each with its own scale s
//   y    = F(Σ_i (σ(r_i) + ε) h_i)
//   h′_i = 2σ(w_i) y + Σ_j P_ji h_j
//   P    = Sinkhorn(softmax(M) + ε): alternately divided by the sums of its columns and of its rows

namespace roper {
namespace {

/// Scales each token of x [T, C] to its length in `as`: √mean(as²) / √mean(x²) times x.
at::Tensor withLengthsOf(const at::Tensor& as, const at::Tensor& x) {
    constexpr double kMinMeanSquare = 1e-5;
    const auto meanSquare = [](const at::Tensor& of) { return of.square().mean(-1, /*keepdim=*/true); };
    return x * meanSquare(as).sqrt() / meanSquare(x).clamp_min(kMinMeanSquare).sqrt();
}

}  // namespace

/// The initial streams [S, T, C] from embeddings x [T, C]. With hyper-connections S copies; otherwise x, and
/// for every further stream a linear map of x, scaled to the lengths of x.
at::Tensor Decoder::splitStreams(const at::Tensor& x) {
    if (const HyperConnections& hyper = architecture().hyper; hyper.isUsed())
        return x.unsqueeze(0).expand({hyper.streams, -1, -1});
    std::vector<at::Tensor> streams{x};
    for (const LinearLocation& location : model_.weights.streams_in)
        streams.push_back(withLengthsOf(x, linear(x, location)));
    return at::stack(streams);
}

/// Joins the streams → [T, C]. With hyper-connections their weighted sum; otherwise the mean of the first
/// stream and of linear maps of the others, scaled to the lengths of the first.
at::Tensor Decoder::joinStreams(const at::Tensor& streams) {
    if (architecture().hyper.isUsed()) {
        const HyperConnectionWeights& by = *model_.weights.streams_sum;
        return weightedStreams(
            streams, mapOfStreams(streams, by) * weights_.vector(by.scale) + weights_.vector(by.base));
    }
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

/// One layer with alternating updates. streams [S, T, C] → [S, T, C]
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

    const at::Tensor gains = linear(streamWeights(computed, by), by.correct).add_(1).t().unsqueeze(-1);
    at::Tensor corrected = predicted + gains * (computed - active);
    at::Tensor gating = corrected.select(0, altup.active);
    if (by.scale) gating = gating * weights_.vector(*by.scale);
    corrected.narrow(0, 1, S - 1).add_(gatedLayerEmbedding(gating, *block.layer_embedding, layer, pass));
    return corrected;
}

/// W norm(x) for the concatenated streams x of each token. streams [S, T, C] → [T, rows of W]
at::Tensor Decoder::mapOfStreams(const at::Tensor& streams, const HyperConnectionWeights& by) {
    const at::Tensor x = streams.transpose(0, 1).flatten(1);
    return linear(norm(x, NormLocation{}), by.map);
}

/// Σ_i (σ(r_i) + ε) h_i of streams h [S, T, C] and r [T, S] → [T, C]
at::Tensor Decoder::weightedStreams(const at::Tensor& streams, const at::Tensor& r) const {
    const at::Tensor weights = at::sigmoid(r) + architecture().hyper.epsilon;
    return (streams * weights.t().unsqueeze(-1)).sum(0);
}

/// Hyper-connections around a layer `compute` [T, C] → [T, C]. streams [S, T, C] → [S, T, C]
at::Tensor Decoder::hyperConnected(const at::Tensor& streams, const HyperConnectionWeights& by,
                                   const std::function<at::Tensor(const at::Tensor& x)>& compute) {
    const auto& [S, iterations, epsilon] = architecture().hyper;
    const std::int64_t T = streams.size(1);
    const at::Tensor scales = weights_.vector(by.scale), base = weights_.vector(by.base),
                     mapped = mapOfStreams(streams, by);
    const auto part = [&](std::int64_t which, std::int64_t first, std::int64_t count) {
        return mapped.narrow(1, first, count) * scales[which] + base.narrow(0, first, count);
    };
    at::Tensor mixing = at::softmax(part(2, 2 * S, S * S).view({T, S, S}), -1) + epsilon;
    const auto divideBySums = [&](std::int64_t dim) {
        mixing = mixing / (mixing.sum(dim, /*keepdim=*/true) + epsilon);
    };
    divideBySums(-2);
    for (std::int64_t i = 1; i < iterations; ++i) {
        divideBySums(-1);
        divideBySums(-2);
    }
    const at::Tensor y = compute(weightedStreams(streams, part(0, 0, S))),
                     written = 2 * at::sigmoid(part(1, S, S)).t().unsqueeze(-1);  // [S, T, 1]
    return written * y + at::einsum("tji,jtc->itc", {mixing, streams});
}

/// One layer with hyper-connections. streams [S, T, C] → [S, T, C]
at::Tensor Decoder::hyperConnectedBlock(const at::Tensor& streams, const BlockWeights& block,
                                        std::int64_t layer, const Pass& pass) {
    const at::Tensor between = hyperConnected(streams, *block.around_attention, [&](const at::Tensor& x) {
        return attention(norm(x, *block.attention_norm), layer, pass);
    });
    return hyperConnected(between, *block.around_feed_forward, [&](const at::Tensor& x) {
        return feedForwardOf(layer, norm(x, *block.feed_forward_norm), x, pass);
    });
}

}  // namespace roper
