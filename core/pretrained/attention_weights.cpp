#include "core/base/error.h"
#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

/// Rows of q (`index` 0), v (1) or k (2), which have `count` rows each, in a tensor of equal parts, each of
/// which holds rows of q, then of v, then of k.
/// @throws Error (checkpoint) if the parts would not be equal
TensorLocator::Rows rowsOfParts(const TensorLocator& in, const std::string& name, std::int64_t count,
                                std::int64_t parts, std::int64_t index) {
    if (count % parts != 0)
        throw Error(ErrorKind::checkpoint, "queries have " + std::to_string(count) +
                                               " features; in the family " + in.model().family +
                                               " they are stored in " + std::to_string(parts) +
                                               " equal parts (" + name + ")");
    const std::int64_t part_rows = count / parts;
    TensorLocator::Rows rows;
    for (std::int64_t part = 0; part < parts; ++part)
        rows.push_back({(3 * part + index) * part_rows, part_rows});
    return rows;
}

/// q, k and v in one tensor.
void splitQueryKeyValue(TensorLocator& in, std::int64_t layer, const std::string& name, BlockWeights& block) {
    const Architecture& model = in.model();
    const std::int64_t d = model.headDimOf(layer), of_queries = model.heads * d,
                       groups = model.keyValueHeadsOf(layer), of_keys = groups * d,
                       all = of_queries + (model.shared_kv ? 1 : 2) * of_keys;
    const auto rows = [&](std::int64_t which) -> TensorLocator::Rows {
        if (const std::int64_t parts = in.family().query_value_key_parts; parts > 0)
            return rowsOfParts(in, name, of_queries, parts, which == 0 ? 0 : 3 - which);
        if (in.isGguf() || !in.family().interleaved_heads) {
            if (which == 0) return {{0, of_queries}};
            return {{of_queries + (model.shared_kv ? 0 : which - 1) * of_keys, of_keys}};
        }
        const std::int64_t queries = model.heads / groups;
        TensorLocator::Rows made;
        for (std::int64_t group = 0; group < groups; ++group)
            made.push_back({(group * (queries + 2) + (which == 0 ? 0 : queries + which - 1)) * d,
                            which == 0 ? queries * d : d});
        return made;
    };
    const BiasRule bias = in.biases().query_key_value;
    block.query = in.part(name, of_queries, model.width, all, rows(0), bias);
    block.key = in.part(name, of_keys, model.width, all, rows(1), bias);
    block.value = in.part(name, of_keys, model.width, all, rows(2), bias);
}

/// A tensor with the query rows, then the gate rows, of one head of width d after another.
void splitQueryGate(TensorLocator& in, const std::string& name, std::int64_t d, BlockWeights& block) {
    const Architecture& model = in.model();
    const auto half = [&](std::int64_t which) {
        TensorLocator::Rows rows;
        for (std::int64_t head = 0; head < model.heads; ++head)
            rows.push_back({(2 * head + which) * d, d});
        return in.part(name, model.heads * d, model.width, 2 * model.heads * d, rows,
                       in.biases().query_key_value);
    };
    block.query = half(0);
    block.head_gate = half(1);
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
    if (model.gates_heads)
        splitQueryGate(in, in.inLayer(layer, names.query), model.headDimOf(layer), block);
    else
        block.query = in.linear(in.inLayer(layer, names.query), of_queries,
                                model.query_rank > 0 ? model.query_rank : model.width, bias);
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
