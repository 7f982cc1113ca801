#include <ATen/ATen.h>

#include <stdexcept>

#include "core/model/transformer.h"

namespace roper {

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens, Numbers numbers) {
    std::vector<at::Tensor> layers;
    record(tokens, {true, [&](const LayerRecord& layer) { layers.push_back(layer.weights); }}, numbers);
    return at::stack(layers);
}

Transformer::Inside Transformer::inside(const at::Tensor& tokens, Numbers numbers) {
    const auto norms_of = [&](const at::Tensor& x, int pairs) {
        return pairNorms(x.squeeze(0), positions_->pairing(), pairs);
    };
    const int qk_pairs = positions_->queryKeyPairs(), value_pairs = positions_->valuePairs();
    std::vector<at::Tensor> attention, norms;
    record(tokens,
           {true,
            [&](const LayerRecord& layer) {
                attention.push_back(layer.weights);
                // A rotation keeps every pair's length, so values and outputs may be taken rotated.
                norms.push_back(at::stack(
                    {norms_of(layer.qkv.select(0, 0), qk_pairs), norms_of(layer.qkv.select(0, 1), qk_pairs),
                     norms_of(layer.heads.v, value_pairs), norms_of(layer.mixed, value_pairs)}));
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
