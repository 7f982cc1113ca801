#include "core/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <numeric>

namespace roper {
namespace {

constexpr double kLayerNormEpsilon = 1e-5;

/// FNV-1a: a seed of its own for each parameter name, the same on every machine.
std::uint64_t seedOf(std::uint64_t model_seed, const std::string& name) {
    std::uint64_t hash = 14695981039346656037U ^ model_seed;
    for (const char c : name)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    return hash;
}

}  // namespace

void KeyValueCache::keep(const at::Tensor& rows) {
    for (auto* tensors : {&keys, &values})
        for (at::Tensor& tensor : *tensors)
            tensor = tensor.index_select(0, rows);
}

Pairing pairingOf(const Specification& specification) {
    return specification.model.pairing == "half" ? Pairing::half : Pairing::interleaved;
}

Schedule scheduleOf(const Specification& specification) {
    return specification.model.schedule == "standard" ? Schedule::standard : Schedule::intro;
}

Transformer::Transformer(const Specification& specification, std::int64_t vocabulary_size, at::Device device,
                         at::ScalarType dtype)
    : specification_(specification),
      heads_(specification.model.heads),
      head_dim_(specification.headDim()),
      turns_values_(specification.model.position == "roper"),
      pre_norm_(specification.model.norm == "pre"),
      options_(at::TensorOptions().device(device).dtype(dtype)) {
    const auto& model = specification_.model;
    const auto rotary = [&](double fraction) {
        return makeRotary(static_cast<int>(head_dim_), pairingOf(specification_), model.base,
                          scheduleOf(specification_), fraction);
    };
    query_key_rotary_ = rotary(model.rotary_fraction);
    value_rotary_ = rotary(turns_values_ ? model.value_rotary_fraction : 0.0);
    growTables(specification_.training.length);

    const std::int64_t C = model.width, F = model.feed_forward;
    at::Generator generator = at::detail::createCPUGenerator(
        seedOf(static_cast<std::uint64_t>(specification_.training.model_seed), "embedding.weight"));
    embedding_ = addParameter("embedding.weight", at::randn({vocabulary_size, C}, generator, at::kDouble));
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::string prefix = "blocks." + std::to_string(layer) + ".";
        Block& block = blocks_.emplace_back();
        block.attention_norm_weight = makeConstant(prefix + "attention_norm.weight", C, 1.0);
        block.attention_norm_bias = makeConstant(prefix + "attention_norm.bias", C, 0.0);
        block.qkv_weight = makeLinear(prefix + "attention.qkv.weight", 3 * C, C);
        block.qkv_bias = makeConstant(prefix + "attention.qkv.bias", 3 * C, 0.0);
        block.output_weight = makeLinear(prefix + "attention.output.weight", C, C);
        block.output_bias = makeConstant(prefix + "attention.output.bias", C, 0.0);
        block.feed_forward_norm_weight = makeConstant(prefix + "feed_forward_norm.weight", C, 1.0);
        block.feed_forward_norm_bias = makeConstant(prefix + "feed_forward_norm.bias", C, 0.0);
        block.up_weight = makeLinear(prefix + "feed_forward.up.weight", F, C);
        block.up_bias = makeConstant(prefix + "feed_forward.up.bias", F, 0.0);
        block.down_weight = makeLinear(prefix + "feed_forward.down.weight", C, F);
        block.down_bias = makeConstant(prefix + "feed_forward.down.bias", C, 0.0);
    }
    if (pre_norm_) {
        final_norm_weight_ = makeConstant("final_norm.weight", C, 1.0);
        final_norm_bias_ = makeConstant("final_norm.bias", C, 0.0);
    }
    head_weight_ = makeLinear("head.weight", vocabulary_size, C);
    head_bias_ = makeConstant("head.bias", vocabulary_size, 0.0);
}

at::Tensor Transformer::addParameter(const std::string& name, at::Tensor value) {
    at::Tensor parameter = value.to(options_).requires_grad_(true);
    parameters_.emplace_back(name, parameter);
    return parameter;
}

/// Even over ±1/√in, PyTorch's own default for a linear layer: [out, in].
at::Tensor Transformer::makeLinear(const std::string& name, std::int64_t out, std::int64_t in) {
    at::Generator generator = at::detail::createCPUGenerator(
        seedOf(static_cast<std::uint64_t>(specification_.training.model_seed), name));
    const double bound = 1.0 / std::sqrt(static_cast<double>(in));
    return addParameter(name, at::empty({out, in}, at::kDouble).uniform_(-bound, bound, generator));
}

at::Tensor Transformer::makeConstant(const std::string& name, std::int64_t size, double value) {
    return addParameter(name, at::full({size}, value, at::kDouble));
}

std::int64_t Transformer::parameterCount() const {
    return std::accumulate(parameters_.begin(), parameters_.end(), std::int64_t{0},
                           [](std::int64_t sum, const NamedParameter& p) { return sum + p.second.numel(); });
}

void Transformer::growTables(std::int64_t positions) {
    if (query_key_table_.cosine.defined() && query_key_table_.cosine.size(0) >= positions) return;
    query_key_table_ = makeRotaryTable(query_key_rotary_, positions, options_);
    value_table_ = makeRotaryTable(value_rotary_, positions, options_);
}

Transformer::Positions Transformer::firstPositions(const RotaryTable& table, std::int64_t T) const {
    return {table.cosine.narrow(0, 0, T), table.sine.narrow(0, 0, T)};
}

/// positions [B] → [B, 1, pairs], one new token a sequence.
Transformer::Positions Transformer::positionsOf(const RotaryTable& table, const at::Tensor& positions) const {
    return {table.cosine.index_select(0, positions).unsqueeze(1),
            table.sine.index_select(0, positions).unsqueeze(1)};
}

at::Tensor Transformer::norm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) const {
    return at::layer_norm(x, {specification_.model.width}, weight, bias, kLayerNormEpsilon);
}

at::Tensor Transformer::drop(const at::Tensor& x, bool training) const {
    return specification_.model.dropout > 0 ? at::dropout(x, specification_.model.dropout, training) : x;
}

at::Tensor Transformer::feedForward(const Block& block, const at::Tensor& x) const {
    const at::Tensor hidden = at::linear(x, block.up_weight, block.up_bias);
    const at::Tensor active = specification_.model.activation == "gelu" ? at::gelu(hidden) : at::relu(hidden);
    return at::linear(active, block.down_weight, block.down_bias);
}

/// x [B, T, C] → q, k, v as the layer makes them: [3, B, H, T, d].
at::Tensor Transformer::splitHeads(const Block& block, const at::Tensor& x) const {
    return at::linear(x, block.qkv_weight, block.qkv_bias)
        .view({x.size(0), x.size(1), 3, heads_, head_dim_})
        .permute({2, 0, 3, 1, 4});
}

/// x [B, T, C] → q, k turned by their positions and, for RoPER, v too: [B, H, T, d].
Transformer::Heads Transformer::turnedHeads(const Block& block, const at::Tensor& x, const Positions& qk,
                                            const Positions& value) const {
    const at::Tensor qkv = splitHeads(block, x);
    const Pairing pairing = query_key_table_.pairing;
    return {rotate(qkv.select(0, 0), qk.cosine, qk.sine, pairing),
            rotate(qkv.select(0, 1), qk.cosine, qk.sine, pairing),
            rotate(qkv.select(0, 2), value.cosine, value.sine, pairing)};
}

/// mixed ô [B, H, T, d] → R(−n)ô for RoPER, heads joined, output projection: [B, T, C].
at::Tensor Transformer::mergeHeads(const Block& block, const at::Tensor& mixed,
                                   const Positions& value) const {
    const at::Tensor turned_back =
        rotate(mixed, value.cosine, value.sine, query_key_table_.pairing, Turn::back);
    return at::linear(turned_back.transpose(1, 2).flatten(2), block.output_weight, block.output_bias);
}

/// The blocks around an attention: `attend(layer, block, x)` maps [B, T, C] to [B, T, C]. → logits [B, T, V]
template <class Attend>
at::Tensor Transformer::run(const at::Tensor& tokens, bool training, Attend attend) {
    at::Tensor x = drop(at::embedding(embedding_, tokens), training);
    for (std::size_t layer = 0; layer < blocks_.size(); ++layer) {
        const Block& block = blocks_[layer];
        if (pre_norm_) {
            x = x +
                drop(attend(layer, block, norm(x, block.attention_norm_weight, block.attention_norm_bias)),
                     training);
            x = x + drop(feedForward(block,
                                     norm(x, block.feed_forward_norm_weight, block.feed_forward_norm_bias)),
                         training);
        } else {
            x = norm(x + drop(attend(layer, block, x), training), block.attention_norm_weight,
                     block.attention_norm_bias);
            x = norm(x + drop(feedForward(block, x), training), block.feed_forward_norm_weight,
                     block.feed_forward_norm_bias);
        }
    }
    if (pre_norm_) x = norm(x, final_norm_weight_, final_norm_bias_);
    return at::linear(x, head_weight_, head_bias_);
}

at::Tensor Transformer::forward(const at::Tensor& tokens, bool training) {
    const std::int64_t T = tokens.size(1);
    growTables(T);
    const Positions qk = firstPositions(query_key_table_, T), value = firstPositions(value_table_, T);
    return run(tokens, training, [&](std::size_t, const Block& block, const at::Tensor& x) {
        const auto [q, k, v] = turnedHeads(block, x, qk, value);
        return mergeHeads(block, at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true),
                          value);
    });
}

at::Tensor Transformer::loss(const at::Tensor& tokens, bool training) {
    const std::int64_t T = tokens.size(1) - 1;
    const at::Tensor logits = forward(tokens.narrow(1, 0, T), training);
    return at::cross_entropy_loss(logits.flatten(0, 1), tokens.narrow(1, 1, T).flatten());
}

at::Tensor Transformer::prefill(const at::Tensor& tokens, std::int64_t capacity, KeyValueCache& cache) {
    const std::int64_t B = tokens.size(0), T = tokens.size(1);
    growTables(capacity);
    cache = {};
    cache.capacity = capacity;
    const Positions qk = firstPositions(query_key_table_, T), value = firstPositions(value_table_, T);
    return run(tokens, false, [&](std::size_t, const Block& block, const at::Tensor& x) {
        const auto [q, k, v] = turnedHeads(block, x, qk, value);
        for (auto [kept, made] : {std::pair{&cache.keys, k}, std::pair{&cache.values, v}}) {
            at::Tensor room = at::zeros({B, heads_, capacity, head_dim_}, options_);
            room.narrow(2, 0, T).copy_(made);
            kept->push_back(room);
        }
        return mergeHeads(block, at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true),
                          value);
    });
}

at::Tensor Transformer::decode(const at::Tensor& tokens, const at::Tensor& positions, KeyValueCache& cache) {
    const std::int64_t B = tokens.size(0);
    const std::int64_t used = positions.max().item<std::int64_t>() + 1;
    const Positions qk = positionsOf(query_key_table_, positions),
                    value = positionsOf(value_table_, positions);
    const at::Tensor slot = positions.view({B, 1, 1, 1}).expand({B, heads_, 1, head_dim_});
    // A sequence sees its own tokens up to the new one; what lies beyond is padding of longer prompts.
    const at::Tensor seen =
        at::arange(used, positions.options()).view({1, 1, 1, used}).le(positions.view({B, 1, 1, 1}));
    const at::Tensor logits =
        run(tokens.unsqueeze(1), false, [&](std::size_t layer, const Block& block, const at::Tensor& x) {
            const auto [q, k, v] = turnedHeads(block, x, qk, value);
            cache.keys[layer].scatter_(2, slot, k);
            cache.values[layer].scatter_(2, slot, v);
            const at::Tensor mixed = at::scaled_dot_product_attention(
                q, cache.keys[layer].narrow(2, 0, used), cache.values[layer].narrow(2, 0, used), seen);
            return mergeHeads(block, mixed, value);
        });
    return logits.squeeze(1);
}

at::Tensor Transformer::attentionWeights(const at::Tensor& tokens) {
    const std::int64_t T = tokens.size(1);
    growTables(T);
    const Positions qk = firstPositions(query_key_table_, T), value = firstPositions(value_table_, T);
    const at::Tensor hidden = at::ones({T, T}, options_.dtype(at::kBool)).triu(1);
    std::vector<at::Tensor> layers;
    run(tokens, false, [&](std::size_t, const Block& block, const at::Tensor& x) {
        const auto [q, k, v] = turnedHeads(block, x, qk, value);
        layers.push_back(causalWeights(q, k, hidden));
        return mergeHeads(block, at::matmul(layers.back(), v), value);
    });
    return at::stack(layers);
}

/// q, k [B, H, T, d], turned → softmax of their scaled scores [B, H, T, T]. `hidden` [T, T] marks the future.
at::Tensor Transformer::causalWeights(const at::Tensor& q, const at::Tensor& k,
                                      const at::Tensor& hidden) const {
    const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(head_dim_));
    return at::softmax(scores.masked_fill(hidden, -INFINITY), -1);
}

/// Mean length of each pair over tokens. x [1, H, T, d] → [H, d/2]; features that do not turn are paired with
/// their neighbours.
at::Tensor Transformer::pairNorms(const at::Tensor& x, const RotaryTable& table) const {
    const std::int64_t r = 2 * table.cosine.size(1), rest = head_dim_ - r;
    const at::Tensor turned = x.narrow(3, 0, r);
    const at::Tensor pairs = table.pairing == Pairing::half ? turned.unflatten(3, {2, r / 2}).transpose(3, 4)
                                                            : turned.unflatten(3, {r / 2, 2});
    const at::Tensor all = at::cat({pairs, x.narrow(3, r, rest).unflatten(3, {rest / 2, 2})}, 3);
    return all.square().sum(-1).sqrt().mean(2).squeeze(0);
}

Transformer::Inside Transformer::inside(const at::Tensor& tokens) {
    const std::int64_t T = tokens.size(1);
    growTables(T);
    const Positions qk = firstPositions(query_key_table_, T), value = firstPositions(value_table_, T);
    const at::Tensor hidden = at::ones({T, T}, options_.dtype(at::kBool)).triu(1);
    std::vector<at::Tensor> attention, norms;
    run(tokens, false, [&](std::size_t, const Block& block, const at::Tensor& x) {
        const auto [q, k, v] = turnedHeads(block, x, qk, value);  // turning keeps every pair's length
        attention.push_back(causalWeights(q, k, hidden));
        const at::Tensor mixed = at::matmul(attention.back(), v);
        norms.push_back(at::stack({pairNorms(q, query_key_table_), pairNorms(k, query_key_table_),
                                   pairNorms(v, value_table_), pairNorms(mixed, value_table_)}));
        return mergeHeads(block, mixed, value);
    });
    return {at::stack(attention).squeeze(1), at::stack(norms, 1)};
}

at::Tensor Transformer::headVectors(const at::Tensor& tokens, std::int64_t layer, std::int64_t head) {
    if (layer < 0 || layer >= static_cast<std::int64_t>(blocks_.size()))
        throw std::invalid_argument("the model has layers 0 to " + std::to_string(blocks_.size() - 1) +
                                    ", not " + std::to_string(layer));
    if (head < 0 || head >= heads_)
        throw std::invalid_argument("a layer has heads 0 to " + std::to_string(heads_ - 1) + ", not " +
                                    std::to_string(head));
    const std::int64_t T = tokens.size(1);
    growTables(T);
    const Positions qk = firstPositions(query_key_table_, T), value = firstPositions(value_table_, T);
    at::Tensor found;
    run(tokens, false, [&](std::size_t at_layer, const Block& block, const at::Tensor& x) {
        if (static_cast<std::int64_t>(at_layer) == layer)
            found = splitHeads(block, x).select(1, 0).select(1, head);
        const auto [q, k, v] = turnedHeads(block, x, qk, value);
        return mergeHeads(block, at::scaled_dot_product_attention(q, k, v, {}, 0.0, /*is_causal=*/true),
                          value);
    });
    return found;
}

}  // namespace roper
