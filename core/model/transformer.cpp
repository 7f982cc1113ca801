#include "core/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <numeric>

#include "core/kernels/attention.h"
#include "core/model/attention_backend.h"
#include "core/model/device.h"
#include "core/model/kernel_attention.h"
#include "core/operators/products.h"

namespace roper {

namespace {

/// Rounds up to a power of 2, or a multiple of 16.
std::int64_t roundedRows(std::int64_t rows) {
    constexpr std::int64_t kStep = 16;
    if (rows > kStep) return (rows + kStep - 1) / kStep * kStep;
    std::int64_t rounded = 1;
    while (rounded < rows)
        rounded *= 2;
    return rounded;
}

}  // namespace

Transformer::Transformer(const Specification& specification, std::int64_t vocabulary_size, at::Device device,
                         at::ScalarType dtype)
    : specification_(specification),
      layout_(specification.headLayout()),
      first_rotated_(specification.model.rotation(layout_.head_dim).firstRotated()),
      first_rotated_value_(specification.model.valueRotation(layout_.head_dim).firstRotated()),
      attention_(enumFromName<AttentionKind>(specification.model.attention)),
      pre_norm_(specification.model.norm == "pre"),
      scope_{!specification.isMasked(), specification.model.window},
      options_(at::TensorOptions().device(device).dtype(dtype)),
      uses_kernels_(reasonForPlain().empty()),
      compute_type_(selectComputeType()),
      parameters_(specification.training.model_seed, options_),
      positions_(makePositions(specification, parameters_, options_)) {
    const auto& model = specification_.model;
    const std::int64_t C = model.width, F = model.feed_forward;
    embedding_ = parameters_.normal("embedding.weight", vocabulary_size, C, 1.0);
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "blocks." + std::to_string(layer) + ".";
        Block& block = layers_.blocks.emplace_back();
        block.attention_norm = normLayer(prefix + "attention_norm");
        if (const std::int64_t rank = model.latent_rank; rank > 0) {
            const std::int64_t d = layout_.head_dim, rotated = d - first_rotated_;
            block.query = productLayer(prefix + "attention.query", C, C);
            block.latent = productLayer(prefix + "attention.latent", rank + rotated, C);
            block.latent_norm = parameters_.constant(prefix + "attention.latent_norm.weight", rank, 1.0);
            block.latent_up =
                productLayer(prefix + "attention.latent_up", layout_.heads * (2 * d - rotated), rank);
        } else {
            block.qkv = linearLayer(prefix + "attention.qkv", layout_.jointWidth(), C);
        }
        if (model.qk_norm) {
            block.query_norm =
                parameters_.constant(prefix + "attention.query_norm.weight", layout_.head_dim, 1.0);
            block.key_norm =
                parameters_.constant(prefix + "attention.key_norm.weight", layout_.head_dim, 1.0);
        }
        if (model.attention_sinks)
            block.sinks = parameters_.constant(prefix + "attention.sinks", layout_.heads, 0.0);
        block.output = linearLayer(prefix + "attention.output", C, C);
        block.feed_forward_norm = normLayer(prefix + "feed_forward_norm");
        if (specification_.isModern()) block.gate = linearLayer(prefix + "feed_forward.gate", F, C);
        block.up = linearLayer(prefix + "feed_forward.up", F, C);
        block.down = linearLayer(prefix + "feed_forward.down", C, F);
    }
    if (pre_norm_) layers_.final_norm = normLayer("final_norm");
    layers_.head = linearLayer("head", vocabulary_size, C);
}

/// A trained bias, or zeros in a model without biases.
at::Tensor Transformer::biasOf(const std::string& layer, std::int64_t size) {
    return specification_.isModern() ? at::zeros({size}, options_)
                                     : parameters_.constant(layer + ".bias", size, 0.0);
}

Affine Transformer::normLayer(const std::string& name) {
    const std::int64_t C = specification_.model.width;
    return {parameters_.constant(name + ".weight", C, 1.0), biasOf(name, C)};
}

Affine Transformer::linearLayer(const std::string& name, std::int64_t out, std::int64_t in) {
    return {parameters_.linear(name + ".weight", out, in), biasOf(name, out)};
}

/// A layer that never has a bias.
Affine Transformer::productLayer(const std::string& name, std::int64_t out, std::int64_t in) {
    return {parameters_.linear(name + ".weight", out, in), at::zeros({out}, options_)};
}

std::int64_t Transformer::parameterCount() const {
    return std::accumulate(parameters().begin(), parameters().end(), std::int64_t{0},
                           [](std::int64_t sum, const NamedParameter& p) { return sum + p.second.numel(); });
}

/// Why passes over whole sequences use only LibTorch's operations; empty if they use our kernels.
std::string Transformer::reasonForPlain() const {
    if (specification_.device.kernel == "plain") return "device.kernel is plain";
    if (!options_.device().is_cpu()) return "the model is on a GPU";
    if (options_.dtype() != at::kFloat) return "our kernels support only float32";
    return {};
}

/// Why attention in such passes uses LibTorch's operations; empty if it uses our kernel.
std::string Transformer::reasonNotFused() const {
    if (!uses_kernels_) return reasonForPlain();
    if (attention_ != AttentionKind::softmax) return "the kernel supports only softmax";
    if (specification_.model.trainsFrequencies()) return "the kernel does not train frequencies";
    return {};
}

/// Type of the operands of matrix products in passes over whole sequences.
at::ScalarType Transformer::selectComputeType() const {
    const auto whole = c10::typeMetaToScalarType(options_.dtype());
    if (whole != at::kFloat) return whole;
    const std::string& precision = specification_.device.precision;
    if (precision != "auto") return precision == "bf16" ? at::kBFloat16 : at::kFloat;
    const bool faster =
        multipliesBFloat16(options_.device()) && (uses_kernels_ || !options_.device().is_cpu());
    return faster ? at::kBFloat16 : at::kFloat;
}

/// Layer operations by LibTorch only, in the model's number type.
LayerOperations Transformer::plainPass() const {
    LayerOperations pass;
    pass.gelu = specification_.model.activation == "gelu";
    pass.rms = specification_.isModern();
    pass.master_type = pass.compute_type = c10::typeMetaToScalarType(options_.dtype());
    return pass;
}

/// All layers that consist of a matrix product and a bias.
std::vector<Affine*> Transformer::productsOf(Layers& layers) {
    std::vector<Affine*> products;
    for (Block& block : layers.blocks)
        for (Affine* layer : {&block.qkv, &block.query, &block.latent, &block.latent_up, &block.output,
                              &block.gate, &block.up, &block.down})
            if (layer->weight.defined()) products.push_back(layer);
    products.push_back(&layers.head);
    return products;
}

/// The layers with weights and biases of products cast to the compute type.
Transformer::Layers Transformer::castLayers() const {
    Layers layers = layers_;
    const std::vector<Affine*> products = productsOf(layers);
    std::vector<at::Tensor> masters;
    for (const Affine* layer : products)
        masters.insert(masters.end(), {layer->weight, layer->bias});
    const std::vector<at::Tensor> cast = castAll(masters, compute_type_);
    for (std::size_t i = 0; i < products.size(); ++i)
        *products[i] = {cast[2 * i], cast[2 * i + 1]};
    return layers;
}

std::string Transformer::describeComputation() const {
    const bool rounds = compute_type_ == at::kBFloat16;
    const std::string numbers = rounds                            ? "in bfloat16 "
                                : options_.dtype() == at::kDouble ? "in float64 "
                                                                  : "in float32 ";
    const std::string slow = rounds && !multipliesBFloat16(options_.device())
                                 ? "; this device does not multiply bfloat16, so float32 would be faster"
                                 : "";
    if (!uses_kernels_) return "computed " + numbers + "by LibTorch's operations: " + reasonForPlain() + slow;
    const std::string products =
        reasonWithoutOneDnn().empty() ? "oneDNN" : "LibTorch's products (" + reasonWithoutOneDnn() + ")";
    const std::string kernels =
        "computed " + numbers + "by our kernels for " + kernelTarget() + " and " + products + slow;
    return reasonNotFused().empty() ? kernels
                                    : kernels + ", attention by LibTorch's operations: " + reasonNotFused();
}

std::string Transformer::selectAttentionBackend(std::int64_t B, std::int64_t T) {
    if (options_.device().is_cpu() || attention_ != AttentionKind::softmax ||
        specification_.model.attention_sinks || specification_.device.kernel == "plain")
        return {};
    const AttentionMask mask =
        sequenceMask(scope_, T, positions_->makePassPositions({T}).distance_bias, options_);
    return roper::selectAttentionBackend(
        {B, layout_.heads, T, layout_.head_dim,
         specification_.model.trainsFrequencies() ? at::kFloat : compute_type_, options_.device(),
         scope_.causal, mask.added});
}

/// One pass through the blocks. → logits [B, T, V]
at::Tensor Transformer::run(const Forward& forward, const Layers& layers) {
    const LayerOperations& pass = forward.pass;
    at::Tensor x = at::embedding(embedding_, forward.tokens);  // [B, T, C]
    if (forward.positions.embedding.defined()) x = x + forward.positions.embedding;
    x = pass.applyDropout(x);
    for (std::size_t layer = 0; layer < layers.blocks.size(); ++layer) {
        const Block& block = layers.blocks[layer];
        const auto headsOf = [&](const at::Tensor& input) {
            return block.latent.weight.defined() ? latentHeads(pass, input, block)
                                                 : pass.linear(input, block.qkv);
        };
        if (pre_norm_) {
            const Normalized before = pass.norm(x, block.attention_norm, pass.compute_type);
            const at::Tensor qkv = preparedHeads(headsOf(before.normal), block);
            const at::Tensor attended = inOriginalOrder(attend(forward, layer, qkv));
            x = pass.addLinear(before.x, attended, block.output);
            const Normalized between = pass.norm(x, block.feed_forward_norm, pass.compute_type);
            x = pass.addFeedForward(between.x, between.normal, block.gate, block.up, block.down);
        } else {
            const at::Tensor qkv = preparedHeads(headsOf(x), block);
            const at::Tensor attended = inOriginalOrder(attend(forward, layer, qkv));
            x = pass.addLinear(x, attended, block.output);
            x = pass.norm(x, block.attention_norm, pass.master_type).normal;
            x = pass.addFeedForward(x, x, block.gate, block.up, block.down);
            x = pass.norm(x, block.feed_forward_norm, pass.master_type).normal;
        }
    }
    if (pre_norm_) x = pass.norm(x, layers.final_norm, pass.compute_type).normal;
    return pass.linearToMaster(x, layers.head);
}

/// Queries, keys and values of latent attention: c = RMSNorm(W_c x), k = [W_k c, W_r x] with the rotating
/// part W_r x, which all heads share, and v = W_v c (DeepSeek-AI 2024, arXiv 2405.04434). x [B, T, C] → q, k
/// and v as in the joint projection of a layer without latent vectors [B, T, 3C]
at::Tensor Transformer::latentHeads(const LayerOperations& pass, const at::Tensor& x,
                                    const Block& block) const {
    constexpr double kLatentEpsilon = 1e-6;  // as in DeepSeek's models, even if other norms have another
    const std::int64_t H = layout_.heads, d = layout_.head_dim, unrotated = first_rotated_,
                       rank = specification_.model.latent_rank;
    const at::Tensor down = pass.linear(x, block.latent),
                     latent = at::rms_norm(down.narrow(2, 0, rank).to(block.latent_norm.scalar_type()),
                                           {rank}, block.latent_norm, kLatentEpsilon),
                     up = pass.linear(latent, block.latent_up).unflatten(2, {H, unrotated + d}),
                     shared = down.narrow(2, rank, d - unrotated).unsqueeze(2).expand({-1, -1, H, -1}),
                     k = at::cat({up.narrow(3, 0, unrotated), shared}, 3), v = up.narrow(3, unrotated, d);
    return at::cat({pass.linear(x, block.query), k.flatten(2), v.flatten(2)}, 2);
}

/// Prepares queries, keys and values for attention: queries and keys are normalized if `model.qk_norm` is set
/// (LayerNorm without bias, Dehghani et al. 2023; in a modern block RMSNorm; in the master type), and the
/// rotating features of each head are moved to the front, where positions and kernels expect them. With
/// shared keys and values, values are the prepared keys. qkv [B, T, jointWidth] → same shape and type
at::Tensor Transformer::preparedHeads(const at::Tensor& qkv, const Block& block) const {
    if (!block.query_norm.defined() && first_rotated_ == 0 && first_rotated_value_ == 0) return qkv;
    const auto part = [&](std::int64_t first, std::int64_t width, const at::Tensor& norm,
                          std::int64_t first_rotated) {
        const std::int64_t d = layout_.head_dim;
        at::Tensor heads = qkv.narrow(2, first, width).unflatten(2, {width / d, d});
        if (norm.defined()) {
            const at::Tensor whole = heads.to(norm.scalar_type());
            heads = specification_.isModern() ? at::rms_norm(whole, {d}, norm, kNormEpsilon)
                                              : at::layer_norm(whole, {d}, norm, {}, kNormEpsilon);
        }
        if (first_rotated > 0) heads = heads.roll({-first_rotated}, {-1});
        return heads.flatten(2).to(qkv.scalar_type());
    };
    const std::int64_t C = layout_.queryWidth(), keys = layout_.keyWidth();
    std::vector<at::Tensor> parts = {part(0, C, block.query_norm, first_rotated_),
                                     part(C, keys, block.key_norm, first_rotated_)};
    if (!layout_.shared_kv) parts.push_back(part(C + keys, keys, {}, first_rotated_value_));
    return at::cat(parts, 2);
}

/// Moves the features of each head's output back to their original order. attended [B, T, C]
at::Tensor Transformer::inOriginalOrder(const at::Tensor& attended) const {
    if (first_rotated_value_ == 0) return attended;
    return attended.unflatten(2, {layout_.heads, layout_.head_dim})
        .roll({first_rotated_value_}, {-1})
        .flatten(2);
}

/// The mask of a pass, with the sinks of a layer.
AttentionMask Transformer::maskOf(const Forward& forward, std::size_t layer) const {
    AttentionMask mask = forward.mask;
    mask.sinks = layers_.blocks[layer].sinks;
    return mask;
}

/// The attention of one layer. qkv: concatenated q, k and v [B, T, jointWidth] → input of the output
/// projection [B, T, C]
at::Tensor Transformer::attend(const Forward& forward, std::size_t layer, const at::Tensor& qkv) {
    if (forward.fused)
        return forward.recorder == nullptr ? attendFused(forward, layer, qkv)
                                           : attendRounded(forward, layer, qkv);
    // Only softmax with fixed frequencies uses the compute type.
    const bool as_it_is = attention_ == AttentionKind::softmax && !specification_.model.trainsFrequencies();
    const Pairing pairing = positions_->pairing();
    const SplitHeads split = splitHeads(as_it_is ? qkv : qkv.to(embedding_.scalar_type()), layout_);
    Heads heads = rotatedHeads(split, attention_, pairing, forward.positions, layer);
    if (forward.decoding != nullptr) {
        KeyValueCache& cache = forward.decoding->cache_;
        if (forward.decode_positions.defined())
            heads = cache.extend(layer, heads, forward.decode_positions, forward.mask.visible.size(-1));
        else
            cache.append(heads);
    }
    const AttentionMask mask = maskOf(forward, layer);
    const bool as_matrix = forward.recorder != nullptr && forward.recorder->with_weights;
    const at::Tensor weights = as_matrix ? roper::weights(attention_, heads, mask) : at::Tensor();
    const at::Tensor mixed =
        as_matrix ? at::matmul(weights.to(heads.v.scalar_type()), ofEachHead(heads.v, layout_.heads))
                  : weightedSum(attention_, heads, mask);  // [B, H, T, d]
    if (forward.recorder != nullptr) forward.recorder->receive({layer, split, heads, weights, mixed});
    return mergedHeads(mixed, pairing, forward.positions, layer);
}

/// `attend` by our kernels.
at::Tensor Transformer::attendFused(const Forward& forward, std::size_t layer, const at::Tensor& qkv) {
    if (forward.decode_positions.defined())
        return forward.decoding->kernel_cache_->attend(layer, qkv, forward.decode_positions,
                                                       forward.positions, layers_.blocks[layer].sinks);
    if (forward.decoding != nullptr) forward.decoding->kernel_cache_->append(qkv, forward.positions);
    return fusedAttention(qkv, layout_, scope_, positions_->pairing(), forward.positions, layer,
                          layers_.blocks[layer].sinks);
}

/// The computation of the kernels in bfloat16, step by step, for a recorder.
at::Tensor Transformer::attendRounded(const Forward& forward, std::size_t layer, const at::Tensor& qkv) {
    const Pairing pairing = positions_->pairing();
    const SplitHeads split = splitHeads(qkv.to(at::kFloat), layout_);
    const Heads heads = rotatedHeads(split, attention_, pairing, forward.positions, layer);
    const RoundedAttention attention = roundedAttention(heads, maskOf(forward, layer));
    forward.recorder->receive({layer, split, heads, attention.weights, attention.mixed});
    return mergedHeads(attention.mixed, pairing, forward.positions, layer).to(at::kBFloat16);
}

/// A pass without a mask: as in training, with our kernels if they are used, or in the model's number type by
/// LibTorch's operations. tokens [B, T]
Transformer::Forward Transformer::makeForward(const at::Tensor& tokens, PassPositions positions,
                                              bool as_in_training) const {
    Forward forward{tokens, std::move(positions), {}, plainPass()};
    if (!as_in_training) return forward;
    forward.pass.uses_kernels = uses_kernels_;
    forward.pass.compute_type = compute_type_;
    forward.fused = reasonNotFused().empty();
    return forward;
}

/// The same for whole sequences, with the mask where it is used. tokens [B, T]
Transformer::Forward Transformer::sequenceForward(const at::Tensor& tokens, bool as_in_training,
                                                  const Recorder* recorder) {
    const std::int64_t T = tokens.size(1);
    Forward forward = makeForward(tokens, positions_->makePassPositions({T}), as_in_training);
    forward.recorder = recorder;
    if (!forward.fused || recorder != nullptr)
        forward.mask = sequenceMask(scope_, T, forward.positions.distance_bias, options_);
    return forward;
}

at::Tensor Transformer::forward(const at::Tensor& tokens, bool training) {
    Forward forward = sequenceForward(tokens, /*as_in_training=*/true);
    if (training) forward.pass.dropout = specification_.model.dropout;
    // The kernels cast weights themselves.
    const bool cast = !uses_kernels_ && forward.pass.compute_type != forward.pass.master_type;
    return run(forward, cast ? castLayers() : layers_);
}

at::Tensor Transformer::loss(const at::Tensor& tokens, bool training) {
    const std::int64_t T = tokens.size(1) - 1;
    return loss(tokens.narrow(1, 0, T), tokens.narrow(1, 1, T), training);
}

at::Tensor Transformer::loss(const at::Tensor& tokens, const at::Tensor& targets, bool training) {
    return at::cross_entropy_loss(forward(tokens, training).flatten(0, 1), targets.flatten(), {},
                                  at::Reduction::Mean, kIgnoreIndex);
}

Transformer::Decoding Transformer::startDecoding(std::int64_t capacity) const {
    Decoding decoding;
    decoding.layers_ = uses_kernels_ ? layersForKernels() : layers_;
    decoding.cache_ = KeyValueCache(capacity);
    if (reasonNotFused().empty())
        decoding.kernel_cache_.emplace(layout_, scope_.window, positions_->pairing(), capacity);
    return decoding;
}

/// The layers with weights cast to the type that the kernels' products read.
Transformer::Layers Transformer::layersForKernels() const {
    Layers layers = layers_;
    for (Affine* layer : productsOf(layers))
        layer->weight = layer->weight.to(compute_type_);
    return layers;
}

at::Tensor Transformer::prefill(const at::Tensor& tokens, Decoding& decoding) {
    Forward forward = sequenceForward(tokens, uses_kernels_);
    forward.decoding = &decoding;
    return run(forward, decoding.layers_);
}

at::Tensor Transformer::decode(const at::Tensor& tokens, const at::Tensor& positions, Decoding& decoding) {
    const std::int64_t B = tokens.size(0), used = positions.max().item<std::int64_t>() + 1;
    // Texts end one by one, and oneDNN would prepare its products for every remaining number of texts.
    const std::int64_t rows = uses_kernels_ && decoding.kernel_cache_ ? roundedRows(B) : B;
    const auto filled = [&](const at::Tensor& x) {
        return rows > B ? at::constant_pad_nd(x, {0, rows - B}) : x;
    };
    Forward forward = makeForward(filled(tokens).unsqueeze(1),
                                  positions_->makePassPositions({used, filled(positions)}), uses_kernels_);
    if (!forward.fused) {
        // A text attends to its own tokens up to the new one; positions beyond are padding of longer prompts.
        const at::Tensor keys = at::arange(used, positions.options()).view({1, 1, 1, used}),
                         queries = positions.view({B, 1, 1, 1});
        at::Tensor visible = keys.le(queries);
        if (scope_.window > 0) visible = visible.logical_and(keys.gt(queries - scope_.window));
        forward.mask = decodingMask(visible, forward.positions.bias, options_);
    }
    forward.decoding = &decoding;
    forward.decode_positions = positions;
    return run(forward, decoding.layers_).squeeze(1).narrow(0, 0, B);
}

/// Runs a pass whose activations `recorder` receives. tokens [B, T]
void Transformer::record(const at::Tensor& tokens, const Recorder& recorder, NumberMode numbers) {
    const bool rounds = numbers == NumberMode::compute && compute_type_ == at::kBFloat16;
    run(sequenceForward(tokens, rounds, &recorder), rounds && !uses_kernels_ ? castLayers() : layers_);
}

}  // namespace roper
