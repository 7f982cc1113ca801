#include <ATen/ATen.h>

#include <stdexcept>

#include "core/model/transformer-inl.h"

namespace roper {

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens) {
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    std::vector<at::Tensor> layers;
    runPlain(tokens, places, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                 const Heads heads = turnedHeads(qkv, layer, places);
                 layers.push_back(weights(attention_, heads, sight));
                 return at::matmul(layers.back(), heads.v);
             }));
    return at::stack(layers);
}

/// Mean length of each pair over tokens. x [1, H, T, d] → [H, d/2]. The first `pairs` turn; features that do
/// not are paired with their neighbours.
at::Tensor Transformer::pairNorms(const at::Tensor& x, int pairs) const {
    const std::int64_t r = 2 * pairs, rest = head_dim_ - r;
    const at::Tensor turned = x.narrow(3, 0, r);
    const at::Tensor as_pairs = positions_.pairing() == Pairing::half
                                    ? turned.unflatten(3, {2, pairs}).transpose(3, 4)
                                    : turned.unflatten(3, {pairs, 2});
    const at::Tensor all = at::cat({as_pairs, x.narrow(3, r, rest).unflatten(3, {rest / 2, 2})}, 3);
    return all.square().sum(-1).sqrt().mean(2).squeeze(0);
}

Transformer::Inside Transformer::inside(const at::Tensor& tokens) {
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    const int qk_pairs = positions_.queryKeyPairs(), value_pairs = positions_.valuePairs();
    std::vector<at::Tensor> attention, norms;
    runPlain(tokens, places, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                 const Heads heads = turnedHeads(qkv, layer, places);
                 attention.push_back(weights(attention_, heads, sight));
                 const at::Tensor mixed =
                     at::matmul(attention.back(), heads.v);  // turning keeps every pair's length
                 norms.push_back(
                     at::stack({pairNorms(qkv.select(0, 0), qk_pairs), pairNorms(qkv.select(0, 1), qk_pairs),
                                pairNorms(heads.v, value_pairs), pairNorms(mixed, value_pairs)}));
                 return mixed;
             }));
    return {at::stack(attention).squeeze(1), at::stack(norms, 1)};
}

at::Tensor Transformer::headVectors(const at::Tensor& tokens, std::int64_t layer, std::int64_t head) {
    if (layer < 0 || layer >= static_cast<std::int64_t>(layers_.blocks.size()))
        throw std::invalid_argument("the model has layers 0 to " + std::to_string(layers_.blocks.size() - 1) +
                                    ", not " + std::to_string(layer));
    if (head < 0 || head >= heads_)
        throw std::invalid_argument("a layer has heads 0 to " + std::to_string(heads_ - 1) + ", not " +
                                    std::to_string(head));
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    at::Tensor found;
    runPlain(tokens, places, byHeads(places, [&](std::size_t at_layer, const at::Tensor& qkv) {
                 if (static_cast<std::int64_t>(at_layer) == layer) found = qkv.select(1, 0).select(1, head);
                 return mix(attention_, turnedHeads(qkv, at_layer, places), sight);
             }));
    return found;
}

at::Tensor Transformer::leastDenominators(const at::Tensor& tokens) {
    if (attention_ == AttentionKind::softmax) return {};
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    std::vector<at::Tensor> layers;
    runPlain(tokens, places, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                 const Heads heads = turnedHeads(qkv, layer, places);
                 layers.push_back(denominators(attention_, heads, sight).amin({0, 2, 3}));
                 return mix(attention_, heads, sight);
             }));
    return at::stack(layers);
}

}  // namespace roper
