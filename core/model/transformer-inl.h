#pragma once

// How a pass runs through the blocks: templates on the attention, for transformer.cpp and
// transformer_probes.cpp.

#include <ATen/ATen.h>

#include "core/model/transformer.h"

namespace roper {

/// An attention for `run` from one of heads: `mix(layer, qkv)` maps [3, B, H, T, d] to what they mix, [B, H,
/// T, d]. Only softmax with fixed frequencies takes rounded numbers.
template <class Mix>
auto Transformer::byHeads(const PassPositions& places, Mix mix) const {
    return [this, &places, mix](std::size_t layer, const at::Tensor& product) {
        const bool as_it_is = attention_ == AttentionKind::softmax && !trainsFrequencies();
        const at::Tensor qkv = splitHeads(as_it_is ? product : product.to(embedding_.scalar_type()));
        return mergeHeads(mix(layer, qkv), layer, places);
    };
}

/// The blocks around an attention: `attend(layer, product)` maps q, k and v side by side, [B, T, 3C], to what
/// the output projection reads, [B, T, C]. → logits [B, T, V]
template <class Attend>
at::Tensor Transformer::run(const at::Tensor& tokens, const PassPositions& places, const Pass& pass,
                            const Layers& layers, Attend attend) {
    at::Tensor x = at::embedding(embedding_, tokens);
    if (places.added.defined()) x = x + places.added;
    x = pass.drop(x);
    for (std::size_t layer = 0; layer < layers.blocks.size(); ++layer) {
        const Block& block = layers.blocks[layer];
        const auto attention = [&](const at::Tensor& input) {
            return attend(layer, pass.linear(input, block.qkv));
        };
        if (pre_norm_) {
            const Normalized before = pass.norm(x, block.attention_norm, pass.factors);
            x = pass.addLinear(before.x, attention(before.normal), block.output);
            const Normalized between = pass.norm(x, block.feed_forward_norm, pass.factors);
            x = pass.addFeedForward(between.x, between.normal, block.up, block.down);
        } else {
            x = pass.addLinear(x, attention(x), block.output);
            x = pass.norm(x, block.attention_norm, pass.exact).normal;
            x = pass.addFeedForward(x, x, block.up, block.down);
            x = pass.norm(x, block.feed_forward_norm, pass.exact).normal;
        }
    }
    if (pre_norm_) x = pass.norm(x, layers.final_norm, pass.factors).normal;
    return pass.linearExact(x, layers.head);
}

}  // namespace roper
