#include "core/model/transformer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numeric>

#include "core/kernels/attention.h"
#include "core/model/fused_attention.h"
#include "core/model/products.h"

namespace roper {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

}  // namespace

void KeyValueCache::keep(const at::Tensor& rows) {
    for (auto* tensors : {&keys, &values, &plain_keys})
        for (at::Tensor& tensor : *tensors)
            tensor = tensor.index_select(0, rows);
}

Transformer::Transformer(const Specification& specification, std::int64_t vocabulary_size, at::Device device,
                         at::ScalarType dtype)
    : specification_(specification),
      heads_(specification.model.heads),
      head_dim_(specification.headDim()),
      attention_(attentionKindOf(specification.model.attention)),
      pre_norm_(specification.model.norm == "pre"),
      causal_(!specification.isMasked()),
      options_(at::TensorOptions().device(device).dtype(dtype)),
      by_kernels_(whyPlain().empty()),
      parameters_(specification.training.model_seed, options_),
      positions_(specification, parameters_, options_) {
    const auto& model = specification_.model;
    const std::int64_t C = model.width, F = model.feed_forward;
    embedding_ = parameters_.normal("embedding.weight", vocabulary_size, C, 1.0);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "blocks." + std::to_string(layer) + ".";
        Block& block = blocks_.emplace_back();
        block.attention_norm_weight = parameters_.constant(prefix + "attention_norm.weight", C, 1.0);
        block.attention_norm_bias = parameters_.constant(prefix + "attention_norm.bias", C, 0.0);
        block.qkv_weight = parameters_.linear(prefix + "attention.qkv.weight", 3 * C, C);
        block.qkv_bias = parameters_.constant(prefix + "attention.qkv.bias", 3 * C, 0.0);
        block.output_weight = parameters_.linear(prefix + "attention.output.weight", C, C);
        block.output_bias = parameters_.constant(prefix + "attention.output.bias", C, 0.0);
        block.feed_forward_norm_weight = parameters_.constant(prefix + "feed_forward_norm.weight", C, 1.0);
        block.feed_forward_norm_bias = parameters_.constant(prefix + "feed_forward_norm.bias", C, 0.0);
        block.up_weight = parameters_.linear(prefix + "feed_forward.up.weight", F, C);
        block.up_bias = parameters_.constant(prefix + "feed_forward.up.bias", F, 0.0);
        block.down_weight = parameters_.linear(prefix + "feed_forward.down.weight", C, F);
        block.down_bias = parameters_.constant(prefix + "feed_forward.down.bias", C, 0.0);
    }
    if (pre_norm_) {
        final_norm_weight_ = parameters_.constant("final_norm.weight", C, 1.0);
        final_norm_bias_ = parameters_.constant("final_norm.bias", C, 0.0);
    }
    head_weight_ = parameters_.linear("head.weight", vocabulary_size, C);
    head_bias_ = parameters_.constant("head.bias", vocabulary_size, 0.0);
}

std::int64_t Transformer::parameterCount() const {
    return std::accumulate(parameters().begin(), parameters().end(), std::int64_t{0},
                           [](std::int64_t sum, const NamedParameter& p) { return sum + p.second.numel(); });
}

/// x [..., C] → x and its layer norm
Normalized Transformer::norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const Pass& pass) const {
    if (pass.by_kernels) return denseNorm(x, weight, bias, kLayerNormEpsilon);
    return {x, at::layer_norm(x, {specification_.model.width}, weight, bias, kLayerNormEpsilon)};
}

at::Tensor Transformer::drop(const at::Tensor& x, const Pass& pass) const {
    return pass.drops ? at::dropout(x, specification_.model.dropout, /*train=*/true) : x;
}

/// x Wᵀ + b; dropped while training, and added to `residual`, if that is defined.
at::Tensor Transformer::project(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                const Pass& pass, const at::Tensor& residual) const {
    if (!residual.defined())
        return pass.by_kernels ? denseLinear(x, weight, bias) : at::linear(x, weight, bias);
    if (pass.by_kernels && !pass.drops) return denseLinear(x, weight, bias, residual);
    return residual + drop(project(x, weight, bias, pass), pass);
}

/// x [..., C] → residual + the feed-forward layers' answer, dropped while training
at::Tensor Transformer::feedForward(const Block& block, const at::Tensor& x, const Pass& pass,
                                    const at::Tensor& residual) const {
    const bool gelu = specification_.model.activation == "gelu";
    if (pass.by_kernels) {
        const auto answer = [&](const at::Tensor& added) {
            return denseFeedForward(x, block.up_weight, block.up_bias, block.down_weight, block.down_bias,
                                    gelu, added);
        };
        return pass.drops ? residual + drop(answer({}), pass) : answer(residual);
    }
    const at::Tensor hidden = at::linear(x, block.up_weight, block.up_bias);
    const at::Tensor active = gelu ? at::gelu(hidden) : at::relu(hidden);
    return project(active, block.down_weight, block.down_bias, pass, residual);
}

/// Why passes over whole sequences are made of LibTorch's operations alone; empty if by our kernels.
std::string Transformer::whyPlain() const {
    if (specification_.device.kernel == "plain") return "device.kernel is plain";
    if (options_.device().type() != at::kCPU) return "our kernels are for CPUs";
    if (options_.dtype() != at::kFloat) return "our kernels are for float32";
    return {};
}

/// Why attention is, in such a pass; empty if by our kernel.
std::string Transformer::whyNotFused() const {
    if (!by_kernels_) return whyPlain();
    if (attention_ != AttentionKind::softmax) return "the kernel knows softmax alone";
    if (specification_.turnsQueriesAndKeys() && specification_.model.frequencies == "trained")
        return "the kernel does not train frequencies";
    return {};
}

std::string Transformer::computation() const {
    if (!by_kernels_) return "computed by LibTorch's operations: " + whyPlain();
    const std::string products =
        whyNotOneDnn().empty() ? "oneDNN" : "LibTorch's products (" + whyNotOneDnn() + ")";
    const std::string kernels = "computed by our kernels for " + kernelTarget() + " and " + products;
    return whyNotFused().empty() ? kernels
                                 : kernels + ", attention by LibTorch's operations: " + whyNotFused();
}

/// product [B, T, 3C] → q, k, v as the layer makes them: [3, B, H, T, d].
at::Tensor Transformer::splitHeads(const at::Tensor& product) const {
    return product.view({product.size(0), product.size(1), 3, heads_, head_dim_}).permute({2, 0, 3, 1, 4});
}

/// qkv [3, B, H, T, d] → q, k turned by their positions and, for RoPER, v too. Linear attention turns what it
/// makes of q and k.
Heads Transformer::turnedHeads(const at::Tensor& qkv, std::size_t layer, const PassPositions& places) const {
    const Pairing pairing = positions_.pairing();
    const Turns &turns = places.queryKey(layer), &value_turns = places.value(layer);
    const at::Tensor q = features(attention_, qkv.select(0, 0)), k = features(attention_, qkv.select(0, 1));
    Heads heads{rotate(q, turns.cosine, turns.sine, pairing),
                rotate(k, turns.cosine, turns.sine, pairing),
                rotate(qkv.select(0, 2), value_turns.cosine, value_turns.sine, pairing),
                {},
                {}};
    if (attention_ == AttentionKind::linear_numerator) {
        heads.plain_q = q;
        heads.plain_k = k;
    }
    return heads;
}

/// mixed ô [B, H, T, d] → R(−n)ô for RoPER, heads joined: [B, T, C].
at::Tensor Transformer::mergeHeads(const at::Tensor& mixed, std::size_t layer,
                                   const PassPositions& places) const {
    const Turns& turns = places.value(layer);
    return rotate(mixed, turns.cosine, turns.sine, positions_.pairing(), Turn::back)
        .transpose(1, 2)
        .flatten(2);
}

/// An attention for `run` from one of heads: `mix(layer, qkv)` maps [3, B, H, T, d] to what they mix, [B, H,
/// T, d].
template <class Mix>
auto Transformer::byHeads(const PassPositions& places, Mix mix) const {
    return [this, &places, mix](std::size_t layer, const at::Tensor& product) {
        return mergeHeads(mix(layer, splitHeads(product)), layer, places);
    };
}

/// The blocks around an attention: `attend(layer, product)` maps q, k and v side by side, [B, T, 3C], to what
/// the output projection reads, [B, T, C]. → logits [B, T, V]
template <class Attend>
at::Tensor Transformer::run(const at::Tensor& tokens, const PassPositions& places, const Pass& pass,
                            Attend attend) {
    at::Tensor x = at::embedding(embedding_, tokens);
    if (places.added.defined()) x = x + places.added;
    x = drop(x, pass);
    for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
        const Block& block = blocks_[layer];
        const auto attention = [&](const at::Tensor& input, const at::Tensor& residual) {
            const at::Tensor product = project(input, block.qkv_weight, block.qkv_bias, pass);
            return project(attend(layer, product), block.output_weight, block.output_bias, pass, residual);
        };
        const auto attention_norm = [&](const at::Tensor& input) {
            return norm(input, block.attention_norm_weight, block.attention_norm_bias, pass);
        };
        const auto feed_forward_norm = [&](const at::Tensor& input) {
            return norm(input, block.feed_forward_norm_weight, block.feed_forward_norm_bias, pass);
        };
        if (pre_norm_) {
            const Normalized before = attention_norm(x);
            const Normalized between = feed_forward_norm(attention(before.normal, before.x));
            x = feedForward(block, between.normal, pass, between.x);
        } else {
            x = attention_norm(attention(x, x)).normal;
            x = feed_forward_norm(feedForward(block, x, pass, x)).normal;
        }
    }
    if (pre_norm_) x = norm(x, final_norm_weight_, final_norm_bias_, pass).normal;
    return project(x, head_weight_, head_bias_, pass);
}

at::Tensor Transformer::forward(const at::Tensor& tokens, bool training) {
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Pass pass{by_kernels_, training && specification_.model.dropout > 0};
    if (whyNotFused().empty())
        return run(tokens, places, pass, [&](std::size_t layer, const at::Tensor& product) {
            return fusedAttention(product, heads_, causal_, positions_.pairing(), places, layer);
        });
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    return run(tokens, places, pass, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                   return mix(attention_, turnedHeads(qkv, layer, places), sight);
               }));
}

at::Tensor Transformer::loss(const at::Tensor& tokens, bool training) {
    const std::int64_t T = tokens.size(1) - 1;
    return loss(tokens.narrow(1, 0, T), tokens.narrow(1, 1, T), training);
}

at::Tensor Transformer::loss(const at::Tensor& tokens, const at::Tensor& targets, bool training) {
    return at::cross_entropy_loss(forward(tokens, training).flatten(0, 1), targets.flatten(), {},
                                  at::Reduction::Mean, kNotAsked);
}

at::Tensor Transformer::prefill(const at::Tensor& tokens, std::int64_t capacity, KeyValueCache& cache) {
    const std::int64_t B = tokens.size(0), T = tokens.size(1);
    cache = {};
    cache.capacity = capacity;
    const PassPositions places = positions_.forPass({T});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    const auto keep = [&](std::vector<at::Tensor>& kept, const at::Tensor& made) {
        if (!made.defined()) return;
        kept.push_back(at::zeros({B, heads_, capacity, head_dim_}, options_));
        kept.back().narrow(2, 0, T).copy_(made);
    };
    return run(tokens, places, {}, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                   const Heads heads = turnedHeads(qkv, layer, places);
                   keep(cache.keys, heads.k);
                   keep(cache.values, heads.v);
                   keep(cache.plain_keys, heads.plain_k);
                   return mix(attention_, heads, sight);
               }));
}

at::Tensor Transformer::decode(const at::Tensor& tokens, const at::Tensor& positions, KeyValueCache& cache) {
    const std::int64_t B = tokens.size(0);
    const std::int64_t used = positions.max().item<std::int64_t>() + 1;
    const PassPositions places = positions_.forPass({used, positions});
    const at::Tensor slot = positions.view({B, 1, 1, 1}).expand({B, heads_, 1, head_dim_});
    // A sequence sees its own tokens up to the new one; what lies beyond is padding of longer prompts.
    const at::Tensor seen =
        at::arange(used, positions.options()).view({1, 1, 1, used}).le(positions.view({B, 1, 1, 1}));
    const Sight sight = sightOfTokens(seen, places.bias, options_);
    const auto upToNow = [&](std::vector<at::Tensor>& kept, std::size_t layer, const at::Tensor& made) {
        if (!made.defined()) return at::Tensor();
        kept[layer].scatter_(2, slot, made);
        return kept[layer].narrow(2, 0, used);
    };
    const at::Tensor logits =
        run(tokens.unsqueeze(1), places, {}, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
                const Heads now = turnedHeads(qkv, layer, places);
                return mix(attention_,
                           {now.q, upToNow(cache.keys, layer, now.k), upToNow(cache.values, layer, now.v),
                            now.plain_q, upToNow(cache.plain_keys, layer, now.plain_k)},
                           sight);
            }));
    return logits.squeeze(1);
}

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens) {
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    std::vector<at::Tensor> layers;
    run(tokens, places, {}, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
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
    run(tokens, places, {}, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
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
    if (layer < 0 || layer >= static_cast<std::int64_t>(blocks_.size()))
        throw std::invalid_argument("the model has layers 0 to " + std::to_string(blocks_.size() - 1) +
                                    ", not " + std::to_string(layer));
    if (head < 0 || head >= heads_)
        throw std::invalid_argument("a layer has heads 0 to " + std::to_string(heads_ - 1) + ", not " +
                                    std::to_string(head));
    const PassPositions places = positions_.forPass({tokens.size(1)});
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    at::Tensor found;
    run(tokens, places, {}, byHeads(places, [&](std::size_t at_layer, const at::Tensor& qkv) {
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
    run(tokens, places, {}, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
            const Heads heads = turnedHeads(qkv, layer, places);
            layers.push_back(denominators(attention_, heads, sight).amin({0, 2, 3}));
            return mix(attention_, heads, sight);
        }));
    return at::stack(layers);
}

}  // namespace roper
