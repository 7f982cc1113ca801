#include <ATen/ATen.h>

#include <cmath>

#include "core/language_model/activated.h"
#include "core/language_model/decoder.h"

// Per-layer embeddings of Gemma 3n and 4 (https://ai.google.dev/gemma/docs/gemma-3n). T tokens, C = width, L
// layers, n features of a layer's embeddings. With the token's row t of a table [V′, L·n] and its embedding
// x,
//
//   e = (√n t + norm(W x / √C)) / √2     [L, n], normalized for each layer
//   y = norm(U (act(G h) ⊙ e_layer))     added to the residual stream h at the end of a layer

namespace roper {

/// e of every token → [T, L, n]
at::Tensor Decoder::layerEmbeddings(std::span<const std::int64_t> tokens) {
    const Architecture& model = architecture();
    const LayerEmbeddings& sizes = model.layer_embeddings;
    const LayerEmbeddingTables& by = *model_.weights.layer_embeddings;
    std::vector<std::int64_t> rows(tokens.begin(), tokens.end());
    for (std::int64_t& row : rows) {
        if (row >= sizes.vocabulary && !sizes.wraps_unknown)
            throw std::invalid_argument("the model has per-layer embeddings for tokens 0 to " +
                                        std::to_string(sizes.vocabulary - 1) + ", not for " +
                                        std::to_string(row));
        if (row >= sizes.vocabulary) row = 0;
    }
    const auto ofLayers = [&](const at::Tensor& x) { return x.unflatten(1, {model.layers, sizes.width}); };
    const at::Tensor of_tokens =
        ofLayers(weights_.gatherRows(by.table, rows)) * std::sqrt(static_cast<double>(sizes.width));
    const at::Tensor of_embeddings =
        ofLayers(linear(embedTokens(tokens), by.projection) / std::sqrt(static_cast<double>(model.width)));
    return (norm(of_embeddings, by.norm) + of_tokens) / std::sqrt(2.0);
}

/// y of a layer, for the residual stream x [T, C] → [T, C]
at::Tensor Decoder::gatedLayerEmbedding(const at::Tensor& x, const LayerEmbeddingWeights& by,
                                        std::int64_t layer, const Pass& pass) {
    const at::Tensor gate = activated(linear(x, by.gate), architecture().activation);
    return norm(linear(gate * pass.layer_embeddings.select(1, layer), by.up), by.norm);
}

}  // namespace roper
