#include <ATen/ATen.h>

#include "core/model/transformer.h"

namespace roper {

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens, NumberMode numbers) {
    std::vector<at::Tensor> layers;
    record(tokens, {true, [&](const LayerRecord& layer) { layers.push_back(layer.weights); }}, numbers);
    return at::stack(layers);
}

Transformer::ActivationStatistics Transformer::statistics(const at::Tensor& tokens, NumberMode numbers) {
    const auto norms_of = [&](const at::Tensor& x, int pairs) {
        return pairNorms(ofEachHead(x, layout_.heads).squeeze(0), positions_->pairing(), pairs);
    };
    const int qk_pairs = positions_->queryKeyPairs(), value_pairs = positions_->valuePairs();
    std::vector<at::Tensor> attention, norms;
    record(tokens,
           {true,
            [&](const LayerRecord& layer) {
                attention.push_back(layer.weights);
                // A rotation preserves every pair's norm, so rotated values and outputs can be used.
                norms.push_back(
                    at::stack({norms_of(layer.split.q, qk_pairs), norms_of(layer.split.k, qk_pairs),
                               norms_of(layer.heads.v, value_pairs), norms_of(layer.mixed, value_pairs)}));
            }},
           numbers);
    return {at::stack(attention).squeeze(1), at::stack(norms, 1)};
}

at::Tensor Transformer::minNormalizers(const at::Tensor& tokens) {
    if (attention_ == AttentionKind::softmax) return {};
    const AttentionMask mask = sequenceMask(scope_, tokens.size(1), {}, options_);
    std::vector<at::Tensor> layers;
    record(tokens, {false, [&](const LayerRecord& layer) {
                        layers.push_back(denominators(attention_, layer.heads, mask).amin({0, 2, 3}));
                    }});
    return at::stack(layers);
}

}  // namespace roper
