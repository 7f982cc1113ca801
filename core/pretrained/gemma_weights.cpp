#include "core/pretrained/block_weights.h"

namespace roper {
namespace {

constexpr BiasRule kNoBias = BiasRule::never;

/// The linear maps to every residual stream but the first (`streams_in`), or from these (`streams_out`).
std::vector<LinearLocation> locateStreams(TensorLocator& in, const std::string& name) {
    const std::int64_t width = in.model().width, others = in.model().altup.streams - 1;
    std::vector<LinearLocation> found;
    if (!in.isGguf()) {
        for (std::int64_t stream = 0; stream < others; ++stream)
            found.push_back(in.linear(withNumber(name, stream), width, width, kNoBias));
        return found;
    }
    const std::string all = name + ".weight";
    in.tensor(all, {others, width, width});
    for (std::int64_t stream = 0; stream < others; ++stream)
        found.push_back({{all, false, width, width, {}, stream}, {}});
    return found;
}

AltUpWeights locateAltUp(TensorLocator& in, std::int64_t layer) {
    const GemmaNames& names = in.allNames().gemma_names;
    const std::int64_t streams = in.model().altup.streams, width = in.model().width;
    const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t columns) {
        return in.linear(in.inLayer(layer, name), out, columns, kNoBias);
    };
    AltUpWeights weights{in.norm(in.inLayer(layer, names.stream_router_norm), width),
                         linear(names.stream_router, streams, width),
                         linear(names.predict, streams * streams, streams),
                         linear(names.correct, streams, streams),
                         {}};
    const VectorLocation scale = in.vector(in.inLayer(layer, names.active_scale), width);
    if (in.model().altup.scales_active) weights.scale = scale;
    return weights;
}

/// GGUF files give the rank only through the shapes of the tensors.
LaurelWeights locateLaurel(TensorLocator& in, std::int64_t layer) {
    const GemmaNames& names = in.allNames().gemma_names;
    const std::string left = in.inLayer(layer, names.laurel_left);
    const std::int64_t width = in.model().width, rank = in.isGguf()
                                                            ? in.tensor(left + ".weight").shape.front()
                                                            : in.model().laurel_rank;
    return {in.linear(left, rank, width, kNoBias),
            in.linear(in.inLayer(layer, names.laurel_right), width, rank, kNoBias),
            in.norm(in.inLayer(layer, names.laurel_norm), width)};
}

}  // namespace

void locateGemmaTables(TensorLocator& in, ModelWeights& weights) {
    const Architecture& model = in.model();
    const GemmaNames& names = in.allNames().gemma_names;
    if (const LayerEmbeddings& sizes = model.layer_embeddings; sizes.isUsed()) {
        const std::int64_t all = model.layers * sizes.width;
        weights.layer_embeddings = {in.table(names.layer_table, sizes.vocabulary, all),
                                    in.linear(names.layer_projection, all, model.width, kNoBias),
                                    in.norm(names.layer_projection_norm, sizes.width)};
    }
    if (!model.altup.isUsed()) return;
    weights.streams_in = locateStreams(in, names.streams_in);
    weights.streams_out = locateStreams(in, names.streams_out);
}

void locateGemmaParts(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const Architecture& model = in.model();
    const GemmaNames& names = in.allNames().gemma_names;
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    if (model.altup.isUsed()) {
        block.altup = locateAltUp(in, layer);
        block.laurel = locateLaurel(in, layer);
    }
    if (const std::int64_t width = model.layer_embeddings.width; width > 0)
        block.layer_embedding = {in.linear(name(names.layer_gate), width, model.width, kNoBias),
                                 in.linear(name(names.layer_up), model.width, width, kNoBias),
                                 in.norm(name(names.layer_norm), model.width)};
    if (model.scales_layers && in.hasTensor(name(names.layer_scale)))
        block.scale = in.vector(name(names.layer_scale), 1);
}

MixtureWeights::BesideDense locateBesideDense(TensorLocator& in, std::int64_t layer) {
    const GemmaNames& names = in.allNames().gemma_names;
    const std::int64_t width = in.model().width;
    const auto name = [&](const std::string& part) { return in.inLayer(layer, part); };
    return {{in.vector(name(names.router_scale), width)},
            in.norm(name(names.before_experts), width),
            in.norm(name(names.after_experts), width),
            in.norm(name(names.after_dense), width),
            in.vector(name(names.expert_scales), in.model().mixture.experts)};
}

}  // namespace roper
