#include "core/pretrained/model_weights.h"

#include <algorithm>

#include "core/pretrained/block_weights.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// Whether two tensors hold the same numbers, even if stored as different types.
bool haveSameContents(const TensorStore& store, const StoredTensor& a, const StoredTensor& b) {
    if (a.shape != b.shape || a.shape.empty()) return false;
    const std::int64_t row = a.shape.back(), rows = row == 0 ? 0 : a.count() / row;
    constexpr std::int64_t kNumbers = 1 << 20;
    const std::int64_t at_once = std::max<std::int64_t>(1, kNumbers / std::max<std::int64_t>(row, 1));
    std::vector<float> of_a, of_b;
    for (std::int64_t first = 0; first < rows; first += at_once) {
        const std::int64_t count = std::min(at_once, rows - first);
        of_a.resize(static_cast<std::size_t>(count * row));
        of_b.resize(of_a.size());
        store.readRows(a, first, count, of_a);
        store.readRows(b, first, count, of_b);
        if (of_a != of_b) return false;
    }
    return true;
}

/// The parameters of `HyperConnections` whose names start with `begin`.
HyperConnectionWeights locateStreamMap(TensorLocator& in, const std::string& begin, std::int64_t rows,
                                       std::int64_t scales) {
    const std::int64_t columns = in.model().hyper.streams * in.model().width;
    in.tensor(begin + "fn", {rows, columns});
    return {{{begin + "fn", false, rows, columns}, {}},
            in.vector(begin + "base", rows),
            in.vector(begin + "scale", scales)};
}

void locateHyperConnections(TensorLocator& in, std::int64_t layer, BlockWeights& block) {
    const TensorNames& names = in.names();
    const std::int64_t rows = (2 + in.model().hyper.streams) * in.model().hyper.streams;
    const auto around = [&](const std::string& part) {
        return locateStreamMap(in, in.inLayer(layer, part), rows, 3);
    };
    block.around_attention = around(names.around_attention);
    block.around_feed_forward = around(names.around_feed_forward);
}

BlockWeights locateBlock(TensorLocator& in, std::int64_t layer) {
    const TensorNames& names = in.names();
    const Architecture& model = in.model();
    const auto norm = [&](const std::string& part) { return in.norm(in.inLayer(layer, part), model.width); };
    BlockWeights block;
    if (model.norms_before && (layer > 0 || model.norms_first_layer))
        block.attention_norm = norm(names.attention_norm);
    locateAttention(in, layer, block);
    if (model.norms_after) {
        block.after_attention_norm = norm(names.after_attention_norm);
        block.after_feed_forward_norm = norm(names.after_feed_forward_norm);
    }
    if (model.norms_before && !model.shares_norm) block.feed_forward_norm = norm(names.feed_forward_norm);
    locateFeedForward(in, layer, block);
    locateGemmaParts(in, layer, block);
    if (model.hyper.isUsed()) locateHyperConnections(in, layer, block);
    return block;
}

/// If the config ties the head to the embeddings but a different head is stored, unties it, as transformers
/// does.
void untieIfDifferent(const TensorStore& store, const TensorNames& names, Architecture& model,
                      std::vector<std::string>& notes) {
    const std::string head = names.head + ".weight", embedding = names.embedding + ".weight";
    if (!model.tied || !store.has(head) || !store.has(embedding) ||
        haveSameContents(store, store.tensor(head), store.tensor(embedding)))
        return;
    model.tied = false;
    notes.push_back("tie_word_embeddings is true, but " + head + " differs from " + embedding +
                    "; both are used, as in transformers");
}

std::int64_t parametersOf(const FeedForwardWeights& layer) {
    const auto of = [](const LinearLocation& location) {
        return location.weight.out * (location.weight.in + (location.bias ? 1 : 0));
    };
    return (layer.gate ? of(*layer.gate) : 0) + (layer.gate_up ? of(*layer.gate_up) : 0) + of(layer.up) +
           of(layer.down);
}

std::string biasOfTiedHead(const TensorLocator& in) {
    const std::string usual = in.names().head + ".bias", of_encoder = in.allNames().encoder_names.head_bias;
    const bool has_own_name = !of_encoder.empty() && (in.hasTensor(of_encoder) || !in.hasTensor(usual));
    return has_own_name ? of_encoder : usual;
}

void noteMissingHead(ModelWeights& weights, const std::string& tensor) {
    weights.notes.push_back("the model has no head (no tensor " + tensor + "): it predicts no tokens");
}

/// Locates norm, projection and positions between the embedding table and the first layer, and the projection
/// before the head.
void locateAroundEmbeddings(TensorLocator& in, ModelWeights& weights) {
    const TensorNames& names = in.names();
    const Architecture& model = in.model();
    if (model.norms_embeddings) weights.embedding_norm = in.norm(names.embedding_norm, model.width);
    if (model.embedding_width > 0) {
        weights.embedding_in =
            in.linear(names.embedding_in, model.width, model.embedding_width, BiasRule::never);
        weights.embedding_out =
            in.linear(names.embedding_out, model.embedding_width, model.width, BiasRule::never);
    }
    if (model.learned_positions)
        weights.positions = in.table(names.positions, model.first_position + model.context, model.width);
}

/// Locates the head, if the model has one; if it is tied, its matrix is the embedding table.
void locateHead(TensorLocator& in, const TensorStore& store, ModelWeights& weights) {
    const std::string name = in.names().head, dense = in.allNames().encoder_names.head_dense;
    const std::int64_t vocabulary = in.model().vocabulary, width = in.model().width;
    if (in.isGguf() && in.model().predicts_masked) {
        weights.notes.emplace_back("GGUF files of encoders have no head: they predict no tokens");
        return;
    }
    if (in.model().head_activation && !in.has(dense)) return noteMissingHead(weights, dense + ".weight");
    if (in.model().head_activation) {
        weights.head_dense = in.linear(dense, width, width, in.biases().head_dense);
        weights.head_norm = in.norm(in.allNames().encoder_names.head_norm, width);
    }
    const auto is_stored = [&](const std::string& tensor) {
        return store.has(tensor) || store.unsupportedTensors().count(tensor) > 0;
    };
    if (in.model().tied) {
        const std::string bias = biasOfTiedHead(in);
        const BiasRule rule = in.biases().head;
        if (rule == BiasRule::always && !is_stored(bias)) return noteMissingHead(weights, bias);
        LinearLocation& head = weights.head.emplace(LinearLocation{weights.embedding, std::nullopt});
        if (rule != BiasRule::never && is_stored(bias)) head.bias = in.vector(bias, vocabulary);
    } else if (is_stored(name + ".weight")) {
        // ESM's bias has another name. BERT's files have both, of which the usual one is used.
        const std::string of_encoder = in.allNames().encoder_names.head_bias;
        const bool has_own_name =
            !of_encoder.empty() && in.hasTensor(of_encoder) && !in.hasTensor(name + ".bias");
        // The head is stored [vocabulary, width] even where the weights of blocks are transposed.
        weights.head = in.part(name, vocabulary, in.model().embeddingWidth(), vocabulary, {},
                               has_own_name ? BiasRule::never : in.biases().head,
                               /*may_be_transposed=*/false);
        if (has_own_name) weights.head->bias = in.vector(of_encoder, vocabulary);
    } else {
        noteMissingHead(weights, name + ".weight");
    }
}

}  // namespace

ModelWeights locateWeights(const TensorStore& store, Naming naming, Architecture& architecture,
                           const BiasRules& biases) {
    if (naming == Naming::gguf) {
        // Files of encoders lack the head, which is not the embedding table.
        architecture.tied = !store.has(ggufNames().names.head + ".weight") && !architecture.predicts_masked;
        const char* const second_norm = findFamily(architecture.family)->gguf_rules.attention_norm_of_two;
        if (second_norm != nullptr && store.has(std::string("blk.0.") + second_norm + ".weight"))
            architecture.shares_norm = false;
        // A GGUF file does not say whether a model norms queries and keys if not all of the family do.
        if (findFamily(architecture.family)->config_rules.query_key_norms_flag != nullptr &&
            architecture.query_key_norm_weights &&
            !store.has("blk.0." + ggufNames().names.query_norm + ".weight"))
            architecture.query_key_norms = QueryKeyNorms::none;
    }
    TensorLocator locator(store, naming, architecture, biases);
    const TensorNames& names = locator.names();
    ModelWeights weights;
    untieIfDifferent(store, names, architecture, weights.notes);
    // If both are tied, a file may store either.
    const bool only_head_stored =
        architecture.tied && !store.has(names.embedding + ".weight") && store.has(names.head + ".weight");
    weights.embedding = locator.table(only_head_stored ? names.head : names.embedding,
                                      architecture.vocabulary, architecture.embeddingWidth());
    architecture.vocabulary = weights.embedding.out;
    locateAroundEmbeddings(locator, weights);
    locateEncoderParts(locator, store, architecture, weights);
    locateGemmaTables(locator, weights);
    if (architecture.hyper.isUsed())
        weights.streams_sum = locateStreamMap(locator, names.streams_sum, architecture.hyper.streams, 1);
    for (std::int64_t layer = 0; layer < architecture.layers; ++layer)
        weights.blocks.push_back(locateBlock(locator, layer));
    if (!architecture.post_norm && architecture.has_final_norm)
        weights.final_norm = locator.norm(names.final_norm, architecture.width);
    locateHead(locator, store, weights);
    locator.requireNoUnknownTensors();
    if (auto note = locator.otherPartsNote()) weights.notes.push_back(std::move(*note));
    weights.parameters = weights.parameters_per_token = locator.parameters();
    // A token may choose more experts than have parameters, if some are identities.
    const std::int64_t unused =
        std::max<std::int64_t>(0, architecture.mixture.experts - architecture.mixture.per_token);
    for (const BlockWeights& block : weights.blocks)
        if (block.mixture) weights.parameters_per_token -= unused * parametersOf(block.mixture->first);
    return weights;
}

std::vector<float> readMatrix(const TensorStore& store, const MatrixLocation& location) {
    const StoredTensor& tensor = store.tensor(location.tensor);
    const auto out = static_cast<std::size_t>(location.out), in = static_cast<std::size_t>(location.in);
    std::vector<float> matrix(out * in);
    const std::vector<MatrixLocation::Rows> all =
        location.rows.empty() ? std::vector<MatrixLocation::Rows>{{0, location.out}} : location.rows;
    const std::int64_t first =
        location.index.value_or(0) * (location.transposed ? location.in : location.out);
    if (!location.transposed) {
        std::size_t done = 0;
        for (const auto& range : all) {
            const std::size_t count = static_cast<std::size_t>(range.count) * in;
            store.readRows(tensor, first + range.first, range.count, std::span(matrix).subspan(done, count));
            done += count;
        }
        return matrix;
    }
    const auto stored_out = static_cast<std::size_t>(tensor.shape.back());
    std::vector<float> row(stored_out);
    for (std::size_t j = 0; j < in; ++j) {
        store.readRows(tensor, first + static_cast<std::int64_t>(j), 1, row);
        std::size_t i = 0;
        for (const auto& range : all)
            for (std::int64_t k = 0; k < range.count; ++k)
                matrix[i++ * in + j] = row[static_cast<std::size_t>(range.first + k)];
    }
    return matrix;
}

std::string withNumber(std::string name, std::int64_t number) {
    if (const std::size_t location = name.find("{}"); location != std::string::npos)
        name.replace(location, 2, std::to_string(number));
    return name;
}

std::vector<float> readVector(const TensorStore& store, const VectorLocation& location) {
    if (location.pieces > 0) {
        std::vector<float> whole;
        for (std::int64_t i = 0; i < location.pieces; ++i) {
            const std::vector<float> piece =
                readVector(store, {withNumber(location.tensor, i), location.size / location.pieces});
            whole.insert(whole.end(), piece.begin(), piece.end());
        }
        return whole;
    }
    const StoredTensor& tensor = store.tensor(location.tensor);
    if (location.index) {
        std::vector<float> row(static_cast<std::size_t>(location.size));
        store.readRows(tensor, *location.index, 1, row);
        return row;
    }
    std::vector<float> all = store.readAll(tensor);
    if (location.parts.empty()) return all;
    std::vector<float> vector;
    for (const auto& range : location.parts)
        vector.insert(vector.end(), all.begin() + range.first, all.begin() + range.first + range.count);
    return vector;
}

}  // namespace roper
