#include "core/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cmath>
#include <numeric>

#include "core/kernels/attention.h"
#include "core/model/attention_choice.h"
#include "core/model/device.h"
#include "core/model/fused_attention.h"
#include "core/model/products.h"
#include "core/model/transformer-inl.h"

namespace roper {

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
      factors_(factorType()),
      parameters_(specification.training.model_seed, options_),
      positions_(specification, parameters_, options_) {
    const auto& model = specification_.model;
    const std::int64_t C = model.width, F = model.feed_forward;
    embedding_ = parameters_.normal("embedding.weight", vocabulary_size, C, 1.0);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "blocks." + std::to_string(layer) + ".";
        Block& block = layers_.blocks.emplace_back();
        block.attention_norm = normLayer(prefix + "attention_norm");
        block.qkv = linearLayer(prefix + "attention.qkv", 3 * C, C);
        block.output = linearLayer(prefix + "attention.output", C, C);
        block.feed_forward_norm = normLayer(prefix + "feed_forward_norm");
        block.up = linearLayer(prefix + "feed_forward.up", F, C);
        block.down = linearLayer(prefix + "feed_forward.down", C, F);
    }
    if (pre_norm_) layers_.final_norm = normLayer("final_norm");
    layers_.head = linearLayer("head", vocabulary_size, C);
}

Affine Transformer::normLayer(const std::string& name) {
    const std::int64_t C = specification_.model.width;
    return {parameters_.constant(name + ".weight", C, 1.0), parameters_.constant(name + ".bias", C, 0.0)};
}

Affine Transformer::linearLayer(const std::string& name, std::int64_t out, std::int64_t in) {
    return {parameters_.linear(name + ".weight", out, in), parameters_.constant(name + ".bias", out, 0.0)};
}

std::int64_t Transformer::parameterCount() const {
    return std::accumulate(parameters().begin(), parameters().end(), std::int64_t{0},
                           [](std::int64_t sum, const NamedParameter& p) { return sum + p.second.numel(); });
}

/// Why passes over whole sequences are made of LibTorch's operations alone; empty if by our kernels.
std::string Transformer::whyPlain() const {
    if (specification_.device.kernel == "plain") return "device.kernel is plain";
    if (!options_.device().is_cpu()) return "the model is on a GPU";
    if (options_.dtype() != at::kFloat) return "our kernels are for float32";
    return {};
}

bool Transformer::trainsFrequencies() const {
    return specification_.turnsQueriesAndKeys() && specification_.model.frequencies == "trained";
}

/// Why attention is, in such a pass; empty if by our kernel.
std::string Transformer::whyNotFused() const {
    if (!by_kernels_) return whyPlain();
    if (attention_ != AttentionKind::softmax) return "the kernel knows softmax alone";
    if (trainsFrequencies()) return "the kernel does not train frequencies";
    return {};
}

/// What the factors of products are in passes over whole sequences.
at::ScalarType Transformer::factorType() const {
    const auto whole = c10::typeMetaToScalarType(options_.dtype());
    if (whole != at::kFloat) return whole;
    const std::string& precision = specification_.device.precision;
    if (precision != "auto") return precision == "bf16" ? at::kBFloat16 : at::kFloat;
    const bool faster = multipliesBFloat16(options_.device()) && (by_kernels_ || !options_.device().is_cpu());
    return faster ? at::kBFloat16 : at::kFloat;
}

/// The way of single tokens and prompts: they come in ever other numbers, for which oneDNN would have to
/// prepare products anew each time.
Pass Transformer::plainPass() const {
    Pass pass;
    pass.gelu = specification_.model.activation == "gelu";
    pass.exact = pass.factors = c10::typeMetaToScalarType(options_.dtype());
    return pass;
}

/// The layers with the factors of products rounded.
Transformer::Layers Transformer::roundedLayers() const {
    Layers layers = layers_;
    std::vector<at::Tensor*> places;
    const auto take = [&](Affine& layer) { places.insert(places.end(), {&layer.weight, &layer.bias}); };
    for (Block& block : layers.blocks)
        for (Affine* layer : {&block.qkv, &block.output, &block.up, &block.down})
            take(*layer);
    take(layers.head);
    std::vector<at::Tensor> exact;
    for (const at::Tensor* place : places)
        exact.push_back(*place);
    const std::vector<at::Tensor> made = rounded(exact, factors_);
    for (std::size_t i = 0; i < places.size(); ++i)
        *places[i] = made[i];
    return layers;
}

std::string Transformer::computation() const {
    const bool rounds = factors_ == at::kBFloat16;
    const std::string numbers = rounds                            ? "in bfloat16 "
                                : options_.dtype() == at::kDouble ? "in float64 "
                                                                  : "in float32 ";
    const std::string slow = rounds && !multipliesBFloat16(options_.device())
                                 ? "; this device does not multiply bfloat16, so float32 would be faster"
                                 : "";
    if (!by_kernels_) return "computed " + numbers + "by LibTorch's operations: " + whyPlain() + slow;
    const std::string products =
        whyNotOneDnn().empty() ? "oneDNN" : "LibTorch's products (" + whyNotOneDnn() + ")";
    const std::string kernels =
        "computed " + numbers + "by our kernels for " + kernelTarget() + " and " + products + slow;
    return whyNotFused().empty() ? kernels
                                 : kernels + ", attention by LibTorch's operations: " + whyNotFused();
}

std::string Transformer::chooseAttention(std::int64_t B, std::int64_t T) {
    if (options_.device().is_cpu() || attention_ != AttentionKind::softmax ||
        specification_.device.kernel == "plain")
        return {};
    const Sight sight = sightOfSequences(causal_, T, positions_.forPass({T}).distance_bias);
    return roper::chooseAttention({B, heads_, T, head_dim_, trainsFrequencies() ? at::kFloat : factors_,
                                   options_.device(), causal_, sight.mask});
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
    if (attention_ == AttentionKind::softmax) {
        const TurnedHeads turned = rotateHeads(qkv, turns, value_turns, pairing);
        return {turned.q, turned.k, turned.v, {}, {}};
    }
    const at::Tensor q = features(attention_, qkv.select(0, 0)), k = features(attention_, qkv.select(0, 1));
    const bool numerator_only = attention_ == AttentionKind::linear_numerator;
    return {rotate(q, turns.cosine, turns.sine, pairing), rotate(k, turns.cosine, turns.sine, pairing),
            rotate(qkv.select(0, 2), value_turns.cosine, value_turns.sine, pairing),
            numerator_only ? q : at::Tensor(), numerator_only ? k : at::Tensor()};
}

/// mixed ô [B, H, T, d] → R(−n)ô for RoPER, heads joined: [B, T, C].
at::Tensor Transformer::mergeHeads(const at::Tensor& mixed, std::size_t layer,
                                   const PassPositions& places) const {
    const Turns& turns = places.value(layer);
    return rotate(mixed, turns.cosine, turns.sine, positions_.pairing(), Turn::back)
        .transpose(1, 2)
        .flatten(2);
}

at::Tensor Transformer::forward(const at::Tensor& tokens, bool training) {
    const PassPositions places = positions_.forPass({tokens.size(1)});
    Pass pass = plainPass();
    pass.by_kernels = by_kernels_;
    pass.factors = factors_;
    if (training) pass.dropout = specification_.model.dropout;
    // The kernels round weights themselves.
    const Layers layers = by_kernels_ || pass.factors == pass.exact ? layers_ : roundedLayers();
    if (whyNotFused().empty())
        return run(tokens, places, pass, layers, [&](std::size_t layer, const at::Tensor& product) {
            return fusedAttention(product, heads_, causal_, positions_.pairing(), places, layer);
        });
    const Sight sight = sightOfSequences(causal_, tokens.size(1), places.distance_bias);
    return run(tokens, places, pass, layers, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
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
    return runPlain(tokens, places, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
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
    const at::Tensor logits = runPlain(
        tokens.unsqueeze(1), places, byHeads(places, [&](std::size_t layer, const at::Tensor& qkv) {
            const Heads now = turnedHeads(qkv, layer, places);
            return mix(attention_,
                       {now.q, upToNow(cache.keys, layer, now.k), upToNow(cache.values, layer, now.v),
                        now.plain_q, upToNow(cache.plain_keys, layer, now.plain_k)},
                       sight);
        }));
    return logits.squeeze(1);
}

}  // namespace roper
