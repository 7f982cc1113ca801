#include <ATen/ATen.h>

#include <stdexcept>

#include "core/model/transformer.h"

namespace roper {

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens, Numbers numbers) {
    std::vector<at::Tensor> layers;
    record(tokens, {true, [&](const LayerRecord& layer) { layers.push_back(layer.weights); }}, numbers);
    return at::stack(layers);
}

/// Mean length of each pair over tokens. x [1, H, T, d] → [H, d/2]. The first `pairs` rotate; features that
/// do not are paired with their neighbours.
at::Tensor Transformer::pairNorms(const at::Tensor& x, int pairs) const {
    const std::int64_t r = 2 * pairs, rest = head_dim_ - r;
    const at::Tensor rotated = x.narrow(3, 0, r);
    const at::Tensor as_pairs = positions_->pairing() == Pairing::half
                                    ? rotated.unflatten(3, {2, pairs}).transpose(3, 4)
                                    : rotated.unflatten(3, {pairs, 2});
    const at::Tensor all = at::cat({as_pairs, x.narrow(3, r, rest).unflatten(3, {rest / 2, 2})}, 3);
    return all.square().sum(-1).sqrt().mean(2).squeeze(0);
}

Transformer::Inside Transformer::inside(const at::Tensor& tokens, Numbers numbers) {
    const int qk_pairs = positions_->queryKeyPairs(), value_pairs = positions_->valuePairs();
    std::vector<at::Tensor> attention, norms;
    record(tokens,
           {true,
            [&](const LayerRecord& layer) {
                attention.push_back(layer.weights);
                // A rotation keeps every pair's length, so values and outputs may be taken rotated.
                norms.push_back(at::stack(
                    {pairNorms(layer.qkv.select(0, 0), qk_pairs), pairNorms(layer.qkv.select(0, 1), qk_pairs),
                     pairNorms(layer.heads.v, value_pairs), pairNorms(layer.mixed, value_pairs)}));
            }},
           numbers);
    return {at::stack(attention).squeeze(1), at::stack(norms, 1)};
}

at::Tensor Transformer::headVectors(const at::Tensor& tokens, std::int64_t layer, std::int64_t head) {
    if (layer < 0 || layer >= static_cast<std::int64_t>(layers_.blocks.size()))
        throw std::invalid_argument("the model has layers 0 to " + std::to_string(layers_.blocks.size() - 1) +
                                    ", not " + std::to_string(layer));
    if (head < 0 || head >= heads_)
        throw std::invalid_argument("a layer has heads 0 to " + std::to_string(heads_ - 1) + ", not " +
                                    std::to_string(head));
    at::Tensor found;
    record(tokens, {false, [&](const LayerRecord& at_layer) {
                        if (static_cast<std::int64_t>(at_layer.layer) == layer)
                            found = at_layer.qkv.select(1, 0).select(1, head);
                    }});
    return found;
}

at::Tensor Transformer::leastDenominators(const at::Tensor& tokens) {
    if (attention_ == AttentionKind::softmax) return {};
    const AttentionMask mask = sequenceMask(causal_, tokens.size(1), {});
    std::vector<at::Tensor> layers;
    record(tokens, {false, [&](const LayerRecord& layer) {
                        layers.push_back(denominators(attention_, layer.heads, mask).amin({0, 2, 3}));
                    }});
    return at::stack(layers);
}

}  // namespace roper
