#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// Rows of all heads, in which the rotated features, the last of a head in files, become its first.
TensorLocator::Rows rowsRotatedFirst(const Architecture& model) {
    const std::int64_t d = model.head_dim, unrotated = d - model.latent.rotated;
    TensorLocator::Rows rows;
    for (std::int64_t head = 0; head < model.heads; ++head) {
        rows.push_back({head * d + unrotated, model.latent.rotated});
        rows.push_back({head * d, unrotated});
    }
    return rows;
}

/// The matrices that compute keys and values from the latent vector.
void locateUp(TensorLocator& in, std::int64_t layer, const LatentNames& names, LatentWeights& weights) {
    const Architecture& model = in.model();
    const std::int64_t H = model.heads, rank = model.latent.rank,
                       unrotated = model.head_dim - model.latent.rotated, values = model.value_dim;
    if (!names.keys.empty() && in.has(in.inLayer(layer, names.keys))) {
        const std::string of_keys = in.inLayer(layer, names.keys) + ".weight",
                          of_values = in.inLayer(layer, names.values) + ".weight";
        in.tensor(of_keys, {H, rank, unrotated});
        in.tensor(of_values, {H, values, rank});
        for (std::int64_t head = 0; head < H; ++head)
            weights.keys.push_back({of_keys, /*transposed=*/true, unrotated, rank, {}, head});
        weights.values = {of_values, false, H * values, rank};
        return;
    }
    const auto up = [&](std::size_t which) {
        return in.fusedPart(in.inLayer(layer, names.up), rank, H, {unrotated, values}, which, BiasRule::never)
            .weight;
    };
    weights.keys = {up(0)};
    weights.values = up(1);
}

IndexerWeights locateIndexer(TensorLocator& in, std::int64_t layer, const LatentNames& names) {
    const KeyIndexer& indexer = in.model().indexer;
    const std::int64_t width = in.model().width, d = indexer.head_dim;
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    return {in.linear(name(names.indexer_query), indexer.heads * d, in.model().latent.query_rank,
                      BiasRule::never),
            in.linear(name(names.indexer_key), d, width, BiasRule::never),
            {in.vector(name(names.indexer_key_norm) + ".weight", d),
             in.vector(name(names.indexer_key_norm) + ".bias", d)},
            in.linear(name(names.indexer_heads), indexer.heads, width, BiasRule::never)};
}

}  // namespace

LatentWeights locateLatentAttention(TensorLocator& in, std::int64_t layer, LinearLocation& query) {
    const Architecture& model = in.model();
    const LatentNames& names = in.allNames().latent_names;
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    const LatentAttention& latent = model.latent;
    const std::int64_t queries = model.heads * model.head_dim;
    const BiasRule bias = in.biases().query_key_value;
    LatentWeights weights;
    if (latent.query_rank > 0) {
        weights.query_down = in.linear(name(names.query_down), latent.query_rank, model.width, bias);
        weights.query_norm = NormLocation{in.vector(name(names.query_norm) + ".weight", latent.query_rank)};
    }
    query = in.part(name(latent.query_rank > 0 ? names.query_up : in.names().query), queries,
                    latent.query_rank > 0 ? latent.query_rank : model.width, queries, rowsRotatedFirst(model),
                    BiasRule::never);
    const std::vector<std::int64_t> counts = {latent.rank, latent.rotated};
    weights.down = in.fusedPart(name(names.down), model.width, 1, counts, 0, bias);
    weights.shared_key = in.fusedPart(name(names.down), model.width, 1, counts, 1, bias);
    weights.norm = NormLocation{in.vector(name(names.norm) + ".weight", latent.rank)};
    locateUp(in, layer, names, weights);
    if (model.indexer.isUsed()) weights.indexer = locateIndexer(in, layer, names);
    return weights;
}

}  // namespace roper
