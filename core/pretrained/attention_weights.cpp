#include "core/base/error.h"
#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// q, k and v in one tensor. @throws Error (checkpoint) also if it cannot have the family's equal parts
void splitQueryKeyValue(TensorLocator& in, std::int64_t layer, const std::string& name, BlockWeights& block) {
    const Architecture& model = in.model();
    const std::int64_t d = model.headDimOf(layer), of_queries = model.heads * d,
                       of_keys = model.keyValueHeadsOf(layer) * d, parts = in.family().query_value_key_parts;
    const bool is_by_key = !in.isGguf() && in.family().interleaved_heads;
    const std::int64_t groups = parts > 0 ? parts : is_by_key ? model.keyValueHeadsOf(layer) : 1;
    if (of_queries % groups != 0 || of_keys % groups != 0)
        throw Error(ErrorKind::checkpoint, "queries have " + std::to_string(of_queries) +
                                               " features and keys " + std::to_string(of_keys) +
                                               "; in the family " + model.family + " both are stored in " +
                                               std::to_string(groups) + " equal parts (" + name + ")");
    std::vector<std::int64_t> counts = {of_queries / groups, of_keys / groups};
    if (!model.shared_kv) counts.push_back(of_keys / groups);
    // Indices in counts. Equal parts hold q, then v, then k.
    const std::size_t key = parts > 0 ? 2 : 1, value = parts > 0 || model.shared_kv ? 1 : 2;
    const auto part = [&](std::size_t which) {
        return in.fusedPart(name, model.width, groups, counts, which, in.biases().query_key_value);
    };
    block.query = part(0);
    block.key = part(key);
    block.value = part(value);
}

/// The norm of queries or keys, whose weight may be stored [heads, d].
NormLocation headNorm(TensorLocator& in, const std::string& name, std::int64_t heads, std::int64_t width) {
    const Architecture& model = in.model();
    const bool has_shared_weights = model.query_key_norms == QueryKeyNorms::shared_weights;
    const std::int64_t size = has_shared_weights ? width : heads * width;
    if (name.find("{}") != std::string::npos) return {in.vectorOfHeads(name + ".weight", heads)};
    NormLocation location{in.vector(name + ".weight", size)};
    if (model.norm == NormKind::layer && model.norm_biases && model.query_key_norm_biases)
        location.bias = in.vector(name + ".bias", size);
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
        return splitQueryKeyValue(in, layer, in.inLayer(layer, names.query_key_value), block);
    const std::int64_t of_queries = model.heads * model.headDimOf(layer),
                       of_keys = model.keyValueHeadsOf(layer) * model.headDimOf(layer);
    const BiasRule bias = in.biases().query_key_value;
    if (model.query_rank > 0) {
        block.query_down =
            in.linear(in.inLayer(layer, names.query_down), model.query_rank, model.width, bias);
        block.query_down_norm = in.norm(in.inLayer(layer, names.query_down_norm), model.query_rank);
    }
    const std::string query = in.inLayer(layer, names.query);
    if (model.gates_heads) {
        const std::vector<std::int64_t> counts(2, model.headDimOf(layer));  // of each head
        block.query = in.fusedPart(query, model.width, model.heads, counts, 0, bias);
        block.head_gate = in.fusedPart(query, model.width, model.heads, counts, 1, bias);
    } else {
        block.query =
            in.linear(query, of_queries, model.query_rank > 0 ? model.query_rank : model.width, bias);
    }
    if (model.sharesKeysAndValues(layer)) return;
    block.key = in.linear(in.inLayer(layer, names.key), of_keys, model.width, bias);
    if (model.shared_kv) {
        block.value = block.key;
        return;
    }
    // In a GGUF file, only a missing value tensor says that values are keys.
    const bool is_key = model.values_are_keys && !model.isWindowed(layer) &&
                        !(in.isGguf() && in.has(in.inLayer(layer, names.value)));
    block.value = is_key ? block.key : in.linear(in.inLayer(layer, names.value), of_keys, model.width, bias);
}

}  // namespace

void locateAttention(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const Architecture& model = in.model();
    const TensorNames& names = in.names();
    if (!model.hasHeads(layer)) {
        if (model.mixers[static_cast<std::size_t>(layer)] == Mixer::gated_delta)
            block.gated_delta = locateGatedDelta(in, layer);
        else
            block.convolution = locateConvolution(in, layer);
        return;
    }
    locateQueriesKeysValues(in, layer, block);
    const std::int64_t of_heads = model.heads * model.valueWidthOf(layer), groups = model.output_groups;
    if (groups > 0)
        block.output_down = in.linear(in.inLayer(layer, names.output_down), groups * model.output_rank,
                                      of_heads / groups, BiasRule::never);
    block.output = in.linear(in.inLayer(layer, names.output), model.width,
                             groups > 0 ? groups * model.output_rank : of_heads, in.biases().output);
    if (model.norms_inner)
        block.mixed_norm =
            in.norm(in.inLayer(layer, names.mixed_norm), model.heads * model.valueWidthOf(layer));
    if (model.normsQueriesIn(layer) && !model.query_key_norm_weights) {
        block.query_norm = block.key_norm = NormLocation{};
    } else if (model.normsQueriesIn(layer)) {
        const std::int64_t d = model.headDimOf(layer);
        block.query_norm = model.query_norm_weights
                               ? headNorm(in, in.inLayer(layer, names.query_norm), model.heads, d)
                               : NormLocation{};
        if (!model.sharesKeysAndValues(layer))
            block.key_norm = headNorm(in, in.inLayer(layer, names.key_norm), model.keyValueHeadsOf(layer), d);
    }
    if (model.has_sinks) block.sinks = in.vector(in.inLayer(layer, names.sinks), model.heads);
}

}  // namespace roper
