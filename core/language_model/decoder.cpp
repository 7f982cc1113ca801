#include "core/language_model/decoder.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/language_model/activated.h"
#include "core/operators/linear_attention.h"

namespace roper {
namespace {

/// 1 + β·ln(1 + ⌊(n + m)/L⌋) for T positions n from `first` on, with β = query_growth, m =
/// query_growth_offset, L = query_growth_length → [T, 1]
at::Tensor growthOfQueries(const Architecture& model, std::int64_t first, std::int64_t T) {
    const at::Tensor lengths = at::arange(first, first + T, at::kDouble)
                                   .add_(model.query_growth_offset)
                                   .div_(model.query_growth_length)
                                   .floor_();
    return lengths.log1p_().mul_(model.query_growth).add_(1).to(at::kFloat).unsqueeze(1);
}

/// Zeroes the embeddings x [T, C] of masked tokens, and scales the others to make up for the difference
/// between the fractions of masked tokens here and in training.
void dropMasked(at::Tensor& x, std::span<const std::int64_t> tokens, const Architecture& model) {
    double masked = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t)
        if (tokens[t] == model.mask_token) {
            x.select(0, static_cast<std::int64_t>(t)).zero_();
            ++masked;
        }
    const auto T = static_cast<double>(tokens.size());
    if (masked < T) x.mul_((1 - model.mask_dropout) / (1 - masked / T));
}

/// max(x − μ − z·σ, 0) for a gate x [T, F], with the mean μ and standard deviation σ of each token.
at::Tensor aboveCutoff(const at::Tensor& gate, double z) {
    const at::Tensor mean = gate.mean(-1, /*keepdim=*/true),
                     deviation = gate.std(-1, /*unbiased=*/false, /*keepdim=*/true);
    return at::relu(gate - mean - deviation * z);
}

/// x / √(mean(x²) + ε) ⊙ w over the last dimension (Zhang & Sennrich 2019), in one pass.
/// @param x         [..., d]; w: [d], [x.size(0)·d] with a weight for each of the first dimension, or none
/// @param adds_one  multiplies by 1 + w instead
at::Tensor rmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon, bool adds_one) {
    const at::Tensor from = x.contiguous(), out = at::empty(x.sizes(), at::kFloat);
    const std::int64_t d = x.size(-1), rows = x.numel() / d;
    const std::int64_t rows_per_weight =
        weight.defined() && weight.numel() != d ? rows / x.size(0) : rows;  // each with one [d] of w
    const float* const x_data = from.const_data_ptr<float>();
    const float* const w_data = weight.defined() ? weight.const_data_ptr<float>() : nullptr;
    float* const y_data = out.mutable_data_ptr<float>();
    const float added = adds_one ? 1.0F : 0.0F;
    at::parallel_for(0, rows, 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const float* const in = x_data + row * d;
            float* const y = y_data + row * d;
            constexpr std::int64_t kSums = 16;
            float sums[kSums] = {};
            std::int64_t i = 0;
            for (; i + kSums <= d; i += kSums)
                for (std::int64_t j = 0; j < kSums; ++j)
                    sums[j] += in[i + j] * in[i + j];
            double sum = 0;
            for (; i < d; ++i)
                sum += static_cast<double>(in[i]) * in[i];
            for (const float part : sums)
                sum += part;
            const auto scale = static_cast<float>(1 / std::sqrt(sum / static_cast<double>(d) + epsilon));
            const float* const w = w_data == nullptr ? nullptr : w_data + row / rows_per_weight * d;
            for (i = 0; i < d; ++i)
                y[i] = w == nullptr ? in[i] * scale : in[i] * scale * (w[i] + added);
        }
    });
    return out;
}

bool rotatesAnywhere(const Architecture& model) {
    return std::any_of(model.rotations.begin(), model.rotations.end(),
                       [](const RotaryConfig& rotation) { return rotation.rotatedWidth() > 0; });
}

/// [T, heads·d] → [heads, T, d]
at::Tensor splitHeads(const at::Tensor& x, std::int64_t heads) {
    return x.unflatten(1, {heads, x.size(1) / heads}).transpose(0, 1);
}

}  // namespace

void requireValidHeads(const HeadSelection& choice, const Architecture& model) {
    if (choice.layer && (*choice.layer < 0 || *choice.layer >= model.layers))
        throw std::invalid_argument("the model has layers 0 to " + std::to_string(model.layers - 1) +
                                    ", not " + std::to_string(*choice.layer));
    if (choice.layer && !model.hasHeads(*choice.layer))
        throw std::invalid_argument("layer " + std::to_string(*choice.layer) +
                                    " of this model has no attention, and therefore no heads");
    if (choice.head && (*choice.head < 0 || *choice.head >= model.heads))
        throw std::invalid_argument("a layer has heads 0 to " + std::to_string(model.heads - 1) + ", not " +
                                    std::to_string(*choice.head));
}

Decoder::Decoder(PretrainedModel model) : model_(std::move(model)), weights_(model_.tensors) {}

void Decoder::check(std::span<const std::int64_t> tokens, std::int64_t first,
                    const Intervention& intervention) const {
    const Architecture& model = architecture();
    if (tokens.empty()) throw std::invalid_argument("the text has no tokens");
    for (const std::int64_t id : tokens)
        if (id < 0 || id >= model.vocabulary)
            throw std::invalid_argument("the model has tokens 0 to " + std::to_string(model.vocabulary - 1) +
                                        ", not " + std::to_string(id));
    const auto length = first + static_cast<std::int64_t>(tokens.size());
    const std::int64_t positions =
        model.learned_positions ? model_.weights.positions->out - model.first_position : length;
    if (length > positions)
        throw std::invalid_argument("the model has a table of " + std::to_string(positions) +
                                    " positions; the text has " + std::to_string(length) + " tokens");
    for (const auto* const list : {&intervention.ablated_heads, &intervention.unrotated,
                                   &intervention.unrotated_value_heads, &intervention.uninverted_heads})
        for (const HeadSelection& choice : *list)
            requireValidHeads(choice, model);
    for (const auto& ablated : intervention.ablated_pairs) {
        requireValidHeads(ablated.heads, model);
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            const int pairs = model.rotationOf(layer).pairs();
            // A selection of all layers concerns only layers with rotating pairs.
            if (pairs == 0 && !ablated.heads.layer && rotatesAnywhere(model)) continue;
            for (const std::int64_t pair : ablated.pairs)
                if (ablated.heads.layer.value_or(layer) == layer && (pair < 0 || pair >= pairs))
                    throw std::invalid_argument(
                        pairs == 0
                            ? (rotatesAnywhere(model) ? "layer " + std::to_string(layer) + " rotates no pairs"
                                                      : "the model rotates no pairs")
                            : "heads have pairs 0 to " + std::to_string(pairs - 1) + ", not " +
                                  std::to_string(pair));
        }
    }
}

at::Tensor Decoder::embedTokens(std::span<const std::int64_t> tokens) {
    const Architecture& model = architecture();
    at::Tensor x = weights_.gatherRows(model_.weights.embedding, tokens);
    if (model_.weights.embedding_in) x = linear(x, *model_.weights.embedding_in);
    if (model.embedding_scale != 1) x.mul_(model.embedding_scale);
    if (model.mask_dropout > 0) dropMasked(x, tokens, model);
    if (model_.weights.token_types) x.add_(weights_.part(*model_.weights.token_types, 0, 1));
    return optionalNorm(x, model_.weights.embedding_norm);
}

at::Tensor Decoder::embed(std::span<const std::int64_t> tokens, std::int64_t first) {
    const Architecture& model = architecture();
    at::Tensor x = embedTokens(tokens);
    if (model_.weights.positions)
        x.add_(weights_.part(*model_.weights.positions, model.first_position + first,
                             static_cast<std::int64_t>(tokens.size())));
    if (model.sinusoids > 0)
        x.add_(makeSinusoidTable(first, std::ssize(tokens), model.width, model.sinusoids, at::kFloat));
    return x;
}

at::Tensor Decoder::norm(const at::Tensor& x, const NormLocation& location) {
    return norm(x, location, architecture().norm_epsilon);
}

at::Tensor Decoder::norm(const at::Tensor& x, const NormLocation& location, double epsilon) {
    const Architecture& model = architecture();
    at::Tensor weight = location.weight ? weights_.vector(*location.weight) : at::Tensor();
    if (model.norm == NormKind::rms) return rmsNorm(x, weight, epsilon, model.norm_adds_one);
    if (weight.defined() && model.norm_adds_one) weight = weight + 1;
    // Per-head weights: x [heads, T, d], weight [heads·d].
    const bool is_by_head = weight.defined() && weight.size(0) != x.size(-1);
    if (is_by_head) weight = weight.view({x.size(0), 1, x.size(2)});
    const at::Tensor bias = location.bias ? weights_.vector(*location.bias) : at::Tensor();
    if (!is_by_head) return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
    const at::Tensor scaled = at::layer_norm(x, {x.size(-1)}, {}, {}, epsilon).mul_(weight);
    return bias.defined() ? scaled + bias.view_as(weight) : scaled;
}

at::Tensor Decoder::optionalNorm(const at::Tensor& x, const std::optional<NormLocation>& location) {
    return location ? norm(x, *location) : x;
}

at::Tensor Decoder::heads(const at::Tensor& x, const LinearLocation& by, std::int64_t count,
                          const std::optional<NormLocation>& normed, double attention_factor) {
    // A norm after the rotation is computed before it, since rotation preserves lengths; `attention` applies
    // its weights after the rotation. A factor f on cosines and sines cancels except in the norm's ε:
    // fx/√(mean(f²x²) + ε) = x/√(mean(x²) + ε/f²).
    if (architecture().norms_rotated && normed)
        return norm(splitHeads(linear(x, by), count), NormLocation{},
                    architecture().norm_epsilon / (attention_factor * attention_factor));
    const bool is_whole = architecture().query_key_norms == QueryKeyNorms::all_heads;
    at::Tensor made = linear(x, by);
    if (is_whole) made = optionalNorm(made, normed);
    if (architecture().clip > 0) made.clamp_(-architecture().clip, architecture().clip);
    return is_whole ? splitHeads(made, count) : optionalNorm(splitHeads(made, count), normed);
}

at::Tensor Decoder::linear(const at::Tensor& x, const LinearLocation& location, WeightReader::Part part) {
    const at::Tensor out = weights_.product(x, location.weight, part);
    if (location.bias) out.add_(weights_.vector(*location.bias));
    return out;
}

at::Tensor Decoder::feedForward(const at::Tensor& x, const FeedForwardWeights& layer) {
    at::Tensor up = linear(x, layer.up);
    if (layer.gate) {
        at::Tensor gate = linear(x, *layer.gate);
        limitGate(gate, up, architecture().swiglu_limit);
        if (layer.gate_cutoff) gate = aboveCutoff(gate, *layer.gate_cutoff);
        up.mul_(activated(gate, architecture().activation));
    } else
        up = layer.xielu ? activated(up, *layer.xielu) : activated(up, architecture().activation);
    return linear(optionalNorm(up, layer.down_norm), layer.down);
}

at::Tensor Decoder::feedForwardOf(std::int64_t layer, const at::Tensor& x, const at::Tensor& residual,
                                  const Pass& pass) {
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    if (!block.mixture) return feedForward(x, block.feed_forward);
    if (architecture().mixture.skips_layer) {
        pass.carried.skipping = mixExperts(x, x, *block.mixture, layer, pass);
        return feedForward(x, block.feed_forward);
    }
    if (block.mixture->beside_dense) return mixExpertsBesideDense(x, residual, block, layer, pass);
    return mixExperts(x, x, *block.mixture, layer, pass);
}

DecoderCache::Layer& DecoderCache::at(std::int64_t layer) {
    layers_.resize(std::max(layers_.size(), static_cast<std::size_t>(layer) + 1));
    return layers_[static_cast<std::size_t>(layer)];
}

at::Tensor DecoderCache::append(std::int64_t layer, at::Tensor Layer::*member, const at::Tensor& added) {
    if (!added.defined()) return {};
    at::Tensor& all = at(layer).*member;
    const std::int64_t now = tokens_ + added.size(1);
    if (!all.defined() || all.size(1) < now) {
        at::Tensor larger = at::empty({added.size(0), std::max<std::int64_t>(2 * now, 64), added.size(2)});
        if (tokens_ > 0) larger.narrow(1, 0, tokens_).copy_(all.narrow(1, 0, tokens_));
        all = std::move(larger);
    }
    all.narrow(1, tokens_, added.size(1)).copy_(added);
    return all.narrow(1, 0, now);
}

DecoderCache::Layer DecoderCache::append(std::int64_t layer, const Layer& added) {
    return {append(layer, &Layer::k, added.k), append(layer, &Layer::v, added.v),
            append(layer, &Layer::unrotated_k, added.unrotated_k)};
}

LayerView Decoder::project(const at::Tensor& x, std::int64_t layer, const Pass& pass) {
    const Architecture& model = architecture();
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    const at::Tensor latent =
        block.query_down ? norm(linear(x, *block.query_down), *block.query_down_norm) : x;
    const double attention_factor =
        pass.rotations[model.rotation_of_layer[static_cast<std::size_t>(layer)]].attention_factor;
    LayerView view{.layer = layer,
                   .q = heads(latent, block.query, model.heads, block.query_norm, attention_factor)};
    if (model.sharesKeysAndValues(layer)) {
        const auto& of_source =
            pass.carried.shared.at(model.key_value_source[static_cast<std::size_t>(layer)]);
        view.k = of_source.k;
        view.v = of_source.v;
        return view;
    }
    view.k = heads(x, block.key, model.keyValueHeadsOf(layer), block.key_norm, attention_factor);
    view.v = model.shared_kv ? view.k : heads(x, block.value, model.keyValueHeadsOf(layer));
    if (model.norms_values) view.v = norm(view.v, NormLocation{});
    if (model.isKeyValueSource(layer)) pass.carried.shared[layer] = {view.k, view.v};
    return view;
}

/// Multi-head latent attention: q = W_q x, or W_q norm(W_dq x); c = norm(W_dkv x); k = [W_r x, W_k c];
/// v = W_v c.
LayerView Decoder::projectLatent(const at::Tensor& x, std::int64_t layer, const Pass& pass) {
    const Architecture& model = architecture();
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    const LatentWeights& by = *block.latent;
    const auto normed = [&](const at::Tensor& latent, const NormLocation& norm) {
        constexpr double kEpsilon = 1e-6;  // even if the model's other norms have another
        return rmsNorm(latent, weights_.vector(*norm.weight), kEpsilon, /*adds_one=*/false);
    };
    at::Tensor queries = by.query_down ? normed(linear(x, *by.query_down), *by.query_norm) : x,
               latent = normed(linear(x, by.down), by.norm);
    const at::Tensor masked_keys = by.indexer ? keysHiddenByIndexer(x, queries, layer, pass) : at::Tensor();
    if (model.latent.query_scale != 1) queries.mul_(model.latent.query_scale);
    if (model.latent.scale != 1) latent.mul_(model.latent.scale);
    std::vector<at::Tensor> keys;
    for (const MatrixLocation& location : by.keys)
        keys.push_back(weights_.product(latent, location));
    const at::Tensor unrotated = splitHeads(at::cat(keys, 1), model.heads),
                     shared = linear(x, by.shared_key).unsqueeze(0).expand({model.heads, -1, -1});
    return {.layer = layer,
            .q = splitHeads(linear(queries, block.query), model.heads),
            .k = at::cat({shared, unrotated}, -1),
            .v = splitHeads(weights_.product(latent, by.values), model.heads),
            .masked_keys = masked_keys};
}

at::Tensor Decoder::attention(const at::Tensor& x, std::int64_t layer, const Pass& pass) {
    const Architecture& model = architecture();
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    if (block.convolution) return shortConvolution(x, *block.convolution, layer, pass);
    if (block.gated_delta) return gatedDelta(x, *block.gated_delta, layer, pass);
    LayerView view = block.latent ? projectLatent(x, layer, pass) : project(x, layer, pass);
    // A rotation preserves lengths, so scaling queries before it is equivalent.
    const std::size_t index = model.rotation_of_layer[static_cast<std::size_t>(layer)];
    const RotaryConfig& by = model.rotations[index];
    if (model.query_growth > 0 && (model.grows_rotated_layers || by.rotatedWidth() == 0))
        view.q = view.q * growthOfQueries(model, pass.first, pass.tokens).repeat({pass.sequences, 1});
    view.unrotated_q = featureMap(model.attention, view.q);
    view.unrotated_k = featureMap(model.attention, view.k);
    const auto rotatedIf = [&](bool rotates, const at::Tensor& features, const CosSin& angles) {
        return rotates ? rotated(features, by, angles) : features.clone();
    };
    view.rotated_q = rotatedIf(model.rotated.query, view.unrotated_q, pass.rotations[index].queries);
    view.rotated_k = rotatedIf(model.rotated.key, view.unrotated_k, pass.rotations[index].keys);
    const bool has_value_rotation =
        !model.value_rotations.empty() && model.value_rotations[index].rotatedWidth() > 0;
    view.rotated_v = has_value_rotation && model.rotated.value
                         ? rotated(view.v, model.value_rotations[index], pass.value_rotations[index].keys)
                         : view.v;
    intervene(view, pass.intervention);
    if (model.norms_rotated && block.query_norm && block.query_norm->weight) {
        view.rotated_q = view.rotated_q * weights_.vector(*block.query_norm->weight);
        view.rotated_k = view.rotated_k * weights_.vector(*block.key_norm->weight);
    }
    if (pass.recorder.vectors) pass.recorder.vectors(view);
    DecoderCache::Layer all{view.rotated_k, view.rotated_v, {}};
    if (model.attention == AttentionKind::linear_numerator) all.unrotated_k = view.unrotated_k;
    if (pass.cache != nullptr) all = pass.cache->append(layer, all);
    at::Tensor mixed = weightedSum(view, all, pass);
    if (block.head_gate) mixed.mul_(at::sigmoid(splitHeads(linear(x, *block.head_gate), model.heads)));
    if (has_value_rotation && model.rotated.output) mixed = rotatedBack(mixed, layer, pass);
    for (const HeadSelection& ablated : pass.intervention.ablated_heads)
        for (std::int64_t head = 0; head < model.heads; ++head)
            if (ablated.contains(layer, head)) mixed.select(0, head).zero_();
    if (pass.recorder.heads) pass.recorder.heads(layer, mixed);
    const at::Tensor all_heads =
        mixed.transpose(0, 1).reshape({x.size(0), model.heads * model.valueWidthOf(layer)});
    return linear(groupedOutput(optionalNorm(all_heads, block.mixed_norm), block), block.output);
}

/// The input of the output projection, from the outputs x [T, H·v] of all heads: x, or a projection of it for
/// each group of heads [T, groups·rank].
at::Tensor Decoder::groupedOutput(const at::Tensor& x, const BlockWeights& block) {
    if (!block.output_down) return x;
    const std::int64_t groups = architecture().output_groups;
    const at::Tensor maps =
        weights_.matrix(block.output_down->weight).unflatten(0, {groups, architecture().output_rank});
    return at::bmm(x.unflatten(1, {groups, -1}).transpose(0, 1), maps.transpose(1, 2))
        .transpose(0, 1)
        .flatten(1);
}

at::Tensor Decoder::outputMatrix(std::int64_t layer) {
    const at::NoGradGuard no_gradients;
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    const at::Tensor output = weights_.matrix(block.output.weight);
    if (!block.output_down) return output;
    const std::int64_t groups = architecture().output_groups, rank = architecture().output_rank;
    const at::Tensor maps = weights_.matrix(block.output_down->weight).unflatten(0, {groups, rank}),
                     of_groups = output.unflatten(1, {groups, rank}).transpose(0, 1);  // [groups, C, rank]
    return at::bmm(of_groups, maps).transpose(0, 1).flatten(1);
}

at::Tensor Decoder::preNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                                 const Pass& pass) {
    const double scale = architecture().residual_scale;
    const at::Tensor normed = optionalNorm(x, block.attention_norm);
    const at::Tensor attended = optionalNorm(attention(normed, layer, pass), block.after_attention_norm);
    const at::Tensor between = at::add(x, attended, scale);
    const at::Tensor input = architecture().shares_norm ? normed
                                                        : optionalNorm(architecture().parallel ? x : between,
                                                                       block.feed_forward_norm);
    at::Tensor out = at::add(
        between, optionalNorm(feedForwardOf(layer, input, between, pass), block.after_feed_forward_norm),
        scale);
    if (architecture().mixture.skips_layer && !block.mixture) out.add_(pass.carried.skipping);
    if (block.layer_embedding) out.add_(gatedLayerEmbedding(out, *block.layer_embedding, layer, pass));
    if (block.scale) out.mul_(weights_.vector(*block.scale));
    return out;
}

at::Tensor Decoder::postNormBlock(const at::Tensor& x, const BlockWeights& block, std::int64_t layer,
                                  const Pass& pass) {
    const at::Tensor between = norm(x + attention(x, layer, pass), *block.attention_norm);
    return norm(between + feedForwardOf(layer, between, between, pass), *block.feed_forward_norm);
}

Decoder::Pass Decoder::passOver(std::span<const std::int64_t> tokens, const Intervention& intervention,
                                const ForwardHooks& recorder, DecoderCache* cache, Pass::Carried& carried) {
    const Architecture& model = architecture();
    const std::int64_t first = cache == nullptr ? 0 : cache->tokens_, T = std::ssize(tokens), N = first + T;
    check(tokens, first, intervention);
    const bool norms_rotated = model.norms_rotated && model.query_key_norms != QueryKeyNorms::none;
    return {tokens,
            intervention,
            recorder,
            rotationsFor(model.rotations, first, T, intervention,
                         norms_rotated ? AttentionFactorUse::nothing : AttentionFactorUse::scores),
            rotationsFor(model.value_rotations, first, T, intervention, AttentionFactorUse::nothing),
            biasesOfHeads(model.head_bias, 1 - N, 2 * N - 1),
            biasesOfHeads(model.key_bias, 0, N),
            first,
            T,
            cache,
            model.layer_embeddings.isUsed() ? layerEmbeddings(tokens) : at::Tensor(),
            carried};
}

at::Tensor Decoder::afterBlock(const at::Tensor& x, std::int64_t layer, const Pass& pass) {
    const Architecture& model = architecture();
    const BlockWeights& block = model_.weights.blocks[static_cast<std::size_t>(layer)];
    const at::Tensor after = model.altup.isUsed()   ? alternatingBlock(x, block, layer, pass)
                             : model.hyper.isUsed() ? hyperConnectedBlock(x, block, layer, pass)
                             : model.post_norm      ? postNormBlock(x, block, layer, pass)
                                                    : preNormBlock(x, block, layer, pass);
    requireFinite(after, "layer " + std::to_string(layer), model_);
    return after;
}

at::Tensor Decoder::hidden(std::span<const std::int64_t> tokens, const Intervention& intervention,
                           const ForwardHooks& recorder, DecoderCache* cache) {
    const at::NoGradGuard no_gradients;
    const Architecture& model = architecture();
    if (cache != nullptr && recorder.last_layer)
        throw std::invalid_argument("a pass that ends at a layer cannot extend a cache");
    if (cache != nullptr && !model.causal)
        throw std::invalid_argument(
            "a bidirectional model must read the whole text at once, because earlier tokens see later ones");
    Pass::Carried carried;
    const Pass pass = passOver(tokens, intervention, recorder, cache, carried);
    at::Tensor x = embed(tokens, pass.first);
    if (recorder.residual) recorder.residual(-1, x);
    const bool has_streams = model.hasStreams();
    if (has_streams) x = splitStreams(x);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (recorder.progress) recorder.progress(layer);
        x = afterBlock(x, layer, pass);
        if (recorder.residual) recorder.residual(layer, has_streams ? joinStreams(x) : x);
        if (layer == recorder.last_layer) break;
    }
    if (cache != nullptr) cache->tokens_ += pass.tokens;
    return finalNorm(has_streams ? joinStreams(x) : x);
}

at::Tensor Decoder::finalNorm(const at::Tensor& residual) {
    const at::NoGradGuard no_gradients;
    return model_.weights.final_norm ? norm(residual, *model_.weights.final_norm) : residual;
}

at::Tensor Decoder::headInput(const at::Tensor& hidden) {
    if (model_.weights.embedding_out) return linear(hidden, *model_.weights.embedding_out);
    if (!model_.weights.head_dense) return hidden;
    const at::Tensor dense = linear(hidden, *model_.weights.head_dense);
    return norm(activated(dense, *architecture().head_activation), *model_.weights.head_norm);
}

const LinearLocation& Decoder::head() const {
    if (model_.weights.head) return *model_.weights.head;
    throw std::invalid_argument(
        model_.name +
        " has no output head and predicts no tokens; its attention, heads, pairs and kernels can be shown");
}

void Decoder::forEachLogitsBlock(
    const at::Tensor& hidden,
    const std::function<void(std::int64_t first, const at::Tensor& logits)>& receive) {
    const at::NoGradGuard no_gradients;
    const Architecture& model = architecture();
    const LinearLocation& location = head();
    const at::Tensor bias = location.bias ? weights_.vector(*location.bias) : at::Tensor(),
                     input = headInput(hidden);
    for (std::int64_t first = 0; first < model.vocabulary; first += kLogits) {
        const std::int64_t count = std::min<std::int64_t>(kLogits, model.vocabulary - first);
        const at::Tensor part = weights_.productOfRows(input, location.weight, first, count);
        if (bias.defined()) part.add_(bias.narrow(0, first, count));
        requireFinite(part, "the head", model_);
        if (model.logit_scale != 1) part.mul_(model.logit_scale);
        receive(first, capped(part, model.logit_softcap));
    }
}

at::Tensor Decoder::logits(const at::Tensor& hidden) {
    const at::Tensor all = at::empty({hidden.size(0), architecture().vocabulary}, at::kFloat);
    forEachLogitsBlock(hidden, [&](std::int64_t first, const at::Tensor& part) {
        all.narrow(1, first, part.size(1)).copy_(part);
    });
    return all;
}

at::Tensor Decoder::normedEmbeddings(std::span<const std::int64_t> tokens, std::int64_t layer) {
    const at::NoGradGuard no_gradients;
    const Architecture& model = architecture();
    at::Tensor x = embedTokens(tokens);
    if (model.post_norm) return x;
    return optionalNorm(x, model_.weights.blocks[static_cast<std::size_t>(layer)].attention_norm);
}

at::Tensor Decoder::unembeddings(std::span<const std::int64_t> tokens) {
    const at::NoGradGuard no_gradients;
    at::Tensor rows = weights_.gatherRows(head().weight, tokens);
    if (model_.weights.embedding_out)
        rows = rows.matmul(weights_.matrix(model_.weights.embedding_out->weight));
    if (architecture().logit_scale != 1) rows.mul_(architecture().logit_scale);
    if (!model_.weights.final_norm || !model_.weights.final_norm->weight) return rows;
    at::Tensor weight = weights_.vector(*model_.weights.final_norm->weight);
    if (architecture().norm_adds_one) weight = weight + 1;
    return rows * weight;
}

}  // namespace roper
