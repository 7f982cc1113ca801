#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// q, k and v in one tensor.
void splitQueryKeyValue(TensorLocator& in, const std::string& name, BlockWeights& block) {
    const Architecture& model = in.model();
    const std::int64_t d = model.head_dim, of_queries = model.heads * d, of_keys = model.key_value_heads * d,
                       all = of_queries + 2 * of_keys;
    const auto rows = [&](std::int64_t which) -> TensorLocator::Rows {
        if (in.isGguf() || !in.family().interleaved_heads) {
            if (which == 0) return {{0, of_queries}};
            return {{of_queries + (which - 1) * of_keys, of_keys}};
        }
        TensorLocator::Rows made;
        for (std::int64_t head = 0; head < model.heads; ++head)
            made.push_back({(3 * head + which) * d, d});
        return made;
    };
    const BiasRule bias = in.biases().query_key_value;
    block.query = in.part(name, of_queries, model.width, all, rows(0), bias);
    block.key = in.part(name, of_keys, model.width, all, rows(1), bias);
    block.value = in.part(name, of_keys, model.width, all, rows(2), bias);
}

/// The norm of queries or keys, whose weight may be stored [heads, d].
NormLocation headNorm(TensorLocator& in, const std::string& name, std::int64_t heads) {
    const Architecture& model = in.model();
    const bool has_shared_weights = model.query_key_norms == QueryKeyNorms::shared_weights;
    const std::int64_t size = has_shared_weights ? model.head_dim : heads * model.head_dim;
    NormLocation location{in.vector(name + ".weight", size)};
    if (model.norm == NormKind::layer && model.norm_biases) location.bias = in.vector(name + ".bias", size);
    return location;
}

void locateQueriesKeysValues(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const Architecture& model = in.model();
    const TensorNames& names = in.names();
    if (model.latent.isUsed()) {
        block.latent = locateLatentAttention(in, layer, block.query);
        return;
    }
    if (!names.query_key_value.empty() && in.has(in.inLayer(layer, names.query_key_value)))
        return splitQueryKeyValue(in, in.inLayer(layer, names.query_key_value), block);
    const std::int64_t of_queries = model.heads * model.head_dim,
                       of_keys = model.key_value_heads * model.head_dim;
    const BiasRule bias = in.biases().query_key_value;
    block.query = in.linear(in.inLayer(layer, names.query), of_queries, model.width, bias);
    block.key = in.linear(in.inLayer(layer, names.key), of_keys, model.width, bias);
    block.value = in.linear(in.inLayer(layer, names.value), of_keys, model.width, bias);
}

}  // namespace

void locateAttention(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const Architecture& model = in.model();
    const TensorNames& names = in.names();
    locateQueriesKeysValues(in, layer, block);
    block.output = in.linear(in.inLayer(layer, names.output), model.width, model.heads * model.valueWidth(),
                             in.biases().output);
    if (model.normsQueriesIn(layer) && !model.query_key_norm_weights) {
        block.query_norm = block.key_norm = NormLocation{};
    } else if (model.normsQueriesIn(layer)) {
        block.query_norm = headNorm(in, in.inLayer(layer, names.query_norm), model.heads);
        block.key_norm = headNorm(in, in.inLayer(layer, names.key_norm), model.key_value_heads);
    }
    if (model.has_sinks) block.sinks = in.vector(in.inLayer(layer, names.sinks), model.heads);
}

}  // namespace roper
