#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/pretrained/architecture.h"
#include "core/pretrained/bias_rules.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Where the matrix [out, in] of a linear layer is stored: in a tensor, or in some of its rows.
struct MatrixLocation {
    std::string tensor;
    bool transposed = false;  ///< the tensor is [in, out]
    std::int64_t out = 0, in = 0;
    /// A range of rows, in the tensor as [out, in].
    struct Rows {
        std::int64_t first, count;
    };
    std::vector<Rows> rows = {};  ///< of the matrix, in order; empty: all
    /// Index of the matrix in a tensor of several; nullopt: the tensor is the matrix.
    std::optional<std::int64_t> index = {};
};

struct VectorLocation {
    std::string tensor;
    std::int64_t size = 0;
    std::vector<MatrixLocation::Rows> parts = {};  ///< like `MatrixLocation::rows`
    std::optional<std::int64_t> index = {};        ///< like `MatrixLocation::index`
    /// Number of tensors that hold the vector's pieces, whose numbers replace "{}" in the name; 0: one
    /// tensor.
    std::int64_t pieces = 0;
};

struct LinearLocation {
    MatrixLocation weight;
    std::optional<VectorLocation> bias = {};
};

struct NormLocation {
    std::optional<VectorLocation> weight;
    std::optional<VectorLocation> bias = {};
};

/// Feed-forward layer: down(act(gate(x)) ⊙ up(x)), or down(act(up(x))) without a gate.
struct FeedForwardWeights {
    std::optional<LinearLocation> gate = {};
    /// Gate and up in one matrix [2F, width] instead of `gate` and `up`, for a hidden layer of width F.
    std::optional<LinearLocation> gate_up = {};
    bool gate_up_interleaved = false;  ///< rows alternate; otherwise, those of the gate come first
    LinearLocation up, down;
    std::optional<NormLocation> down_norm = {};  ///< normalizes the input of `down` (`norms_inner`)
    std::optional<Xielu> xielu = {};             ///< with `Activation::xielu`
    std::optional<double> gate_cutoff = {};      ///< `Architecture::gate_cutoffs`, if finite
};

/// A mixture of experts (`ExpertMixture`).
struct MixtureWeights {
    LinearLocation router;                      ///< [`ExpertMixture::choices`, width]
    std::optional<VectorLocation> choice_bias;  ///< [`ExpertMixture::choices`]
    std::optional<MatrixLocation> hash_table;   ///< [vocabulary, per_token] (`ExpertMixture::hashed`)
    /// Those of expert 0, with "{}" for the expert in the names of tensors; `expert` returns those of any.
    FeedForwardWeights first;
    std::optional<FeedForwardWeights> shared;   ///< the expert that all tokens take
    std::optional<LinearLocation> shared_gate;  ///< [1, width]
    /// With `ExpertMixture::beside_dense`.
    struct BesideDense {
        NormLocation router, experts;             ///< normalize the inputs of the router and the experts
        NormLocation after_experts, after_dense;  ///< normalize both outputs
        VectorLocation expert_scales;             ///< [experts], factors on the outputs of experts
    };
    std::optional<BesideDense> beside_dense = {};

    FeedForwardWeights expert(std::int64_t number) const;
};

/// `KeyIndexer` of h heads of width d.
struct IndexerWeights {
    LinearLocation query;     ///< [h·d, query_rank], reads the latent vector of queries
    LinearLocation key;       ///< [d, width]
    NormLocation key_norm;    ///< a layer norm [d]
    LinearLocation of_heads;  ///< [h, width], a weight for each head's scores
};

/// A short convolution of K tokens.
struct ShortConvolutionWeights {
    LinearLocation in;                   ///< [3·width, width]
    MatrixLocation taps;                 ///< [width, K]
    std::optional<VectorLocation> bias;  ///< [width]
    LinearLocation out;                  ///< [width, width]
};

/// `GatedDelta` with h value heads of width v.
struct GatedDeltaWeights {
    /// Queries, keys and values [2·keysWidth + valuesWidth, width], in one matrix or three.
    std::vector<LinearLocation> query_key_value;
    MatrixLocation taps;         ///< [2·keysWidth + valuesWidth, K]
    LinearLocation gate;         ///< [valuesWidth, width]
    LinearLocation beta, decay;  ///< [h, width] each
    VectorLocation decay_bias;   ///< [h]
    VectorLocation decay_scale;  ///< [h]: ln of a factor if `decay_is_log`, otherwise the negative factor
    bool decay_is_log = true;
    VectorLocation norm;  ///< [v]
    LinearLocation out;   ///< [width, valuesWidth]
};

/// `AlternatingUpdates` with S streams.
struct AltUpWeights {
    NormLocation router_norm;             ///< [width]
    LinearLocation router;                ///< [S, width]
    LinearLocation predict;               ///< [S², S]
    LinearLocation correct;               ///< [S, S]
    std::optional<VectorLocation> scale;  ///< [width] (`AlternatingUpdates::scales_active`)
};

/// `HyperConnections` of S streams around attention or the feed-forward.
struct HyperConnectionWeights {
    LinearLocation map;          ///< [(2 + S)·S, S·width]: weights to read, to write, and the mixing matrix
    VectorLocation base, scale;  ///< [(2 + S)·S], and [3] for these three parts
};

/// The learned augmented residual (`Architecture::laurel_rank`).
struct LaurelWeights {
    LinearLocation left, right;  ///< [r, width], [width, r]
    NormLocation norm;           ///< [width]
};

/// The part of `LayerEmbeddings` in a layer.
struct LayerEmbeddingWeights {
    LinearLocation gate, up;  ///< [n, width], [width, n]
    NormLocation norm;        ///< [width]
};

/// The tables of `LayerEmbeddings` for L layers.
struct LayerEmbeddingTables {
    MatrixLocation table;       ///< [its vocabulary, L·n]
    LinearLocation projection;  ///< [L·n, width]
    NormLocation norm;          ///< [n]
};

/// Multi-head latent attention (`LatentAttention`) of H heads with n unrotated features and v values each.
struct LatentWeights {
    std::optional<LinearLocation> query_down;  ///< [query_rank, width]; queries are then computed from it
    std::optional<NormLocation> query_norm;    ///< [query_rank]
    LinearLocation down;                       ///< [rank, width]
    NormLocation norm;                         ///< [rank]
    LinearLocation shared_key;                 ///< [rotated, width]: rotated features of keys, for all heads
    std::optional<IndexerWeights> indexer = {};
    std::vector<MatrixLocation> keys;  ///< [H·n, rank], or for each head [n, rank]
    MatrixLocation values;             ///< [H·v, rank]
};

/// Where the parameters of a block are stored; empty if the family has no such parameter.
struct BlockWeights {
    /// Absent without `Architecture::norms_before`, and in layer 0 without `norms_first_layer`.
    std::optional<NormLocation> attention_norm;
    /// [heads·d, width], [key_value_heads·d, width] twice, [width, heads·d] for heads of width d. `key` and
    /// `value` are unset if the layer uses those of an earlier one.
    LinearLocation query, key, value, output;
    /// Instead of `key` and `value`; `query` is [heads·d, query_rank] if queries have a latent vector.
    std::optional<LatentWeights> latent;
    /// [query_rank, width] and [query_rank] (`Architecture::query_rank`); `query` is [heads·d, query_rank].
    std::optional<LinearLocation> query_down;
    std::optional<NormLocation> query_down_norm;
    /// [groups·rank, heads·d / groups] (`Architecture::output_groups`); `output` is [width, groups·rank].
    std::optional<LinearLocation> output_down;
    // Instead of attention.
    std::optional<ShortConvolutionWeights> convolution;
    std::optional<GatedDeltaWeights> gated_delta;
    std::optional<LinearLocation> head_gate;           ///< [heads·d, width] (`Architecture::gates_heads`)
    std::optional<NormLocation> mixed_norm;            ///< normalizes the input of `output` (`norms_inner`)
    std::optional<NormLocation> query_norm, key_norm;  ///< [d], or [heads·d] (`QueryKeyNorms`)
    std::optional<NormLocation> after_attention_norm, after_feed_forward_norm;
    /// Absent without `Architecture::norms_before`, and with `shares_norm`.
    std::optional<NormLocation> feed_forward_norm;
    std::optional<VectorLocation> sinks;  ///< [heads] (`Architecture::has_sinks`)
    /// Without parameters if the layer is a mixture, unless there is a dense layer beside it
    /// (`ExpertMixture::hasDenseBeside`).
    FeedForwardWeights feed_forward;
    std::optional<MixtureWeights> mixture;
    std::optional<AltUpWeights> altup;
    std::optional<LaurelWeights> laurel;
    std::optional<HyperConnectionWeights> around_attention, around_feed_forward;
    std::optional<LayerEmbeddingWeights> layer_embedding;
    std::optional<VectorLocation> scale;  ///< [1] (`Architecture::scales_layers`)
};

struct ModelWeights {
    MatrixLocation embedding;                    ///< [vocabulary, embedding_width]
    std::optional<NormLocation> embedding_norm;  ///< with `Architecture::norms_embeddings`
    /// [width, embedding_width] and [embedding_width, width] (`Architecture::embedding_width`)
    std::optional<LinearLocation> embedding_in, embedding_out;
    std::optional<MatrixLocation> positions;  ///< [first_position + context, width]
    std::optional<LayerEmbeddingTables> layer_embeddings;
    /// For each stream but the first (`AlternatingUpdates`), the map from the embeddings to it, and from it
    /// to the final norm [width, width].
    std::vector<LinearLocation> streams_in, streams_out;
    /// The weights by which the streams are summed for the final norm (`HyperConnections`): [S, S·width],
    /// [S], [1].
    std::optional<HyperConnectionWeights> streams_sum;
    std::optional<MatrixLocation> token_types;  ///< [`Architecture::token_types`, width]
    std::vector<BlockWeights> blocks;
    std::optional<NormLocation> final_norm;  ///< absent with `Architecture::post_norm`
    /// [vocabulary, embedding_width]; `embedding` if tied. Absent if the model has no head.
    std::optional<LinearLocation> head;
    /// W and b, and the norm, of `Architecture::head_activation`: [width, width].
    std::optional<LinearLocation> head_dense;
    std::optional<NormLocation> head_norm;
    std::int64_t parameters = 0;  ///< number of parameters, tied ones counted once
    /// Number of parameters that a token uses: all but those of experts that it does not take.
    std::int64_t parameters_per_token = 0;
    std::vector<std::string> notes;
};

/// Naming scheme of the tensors.
enum class Naming { hugging_face, gguf };

/// Finds every parameter of a model among its tensors and checks their shapes.
/// @param architecture  `vocabulary` is set to the rows of the embedding table, which is often padded
/// @throws Error (checkpoint) naming a tensor that is missing, has another shape, or does not belong to the
/// family
ModelWeights locateWeights(const TensorStore& store, Naming naming, Architecture& architecture,
                           const BiasRules& biases = {});

/// A matrix, row-major [out, in], or a vector, as float32.
/// @throws Error (checkpoint), Error (disk)
std::vector<float> readMatrix(const TensorStore& store, const MatrixLocation& location);
std::vector<float> readVector(const TensorStore& store, const VectorLocation& location);

/// A name with "{}" replaced by the number of an expert or head.
std::string withNumber(std::string name, std::int64_t number);

}  // namespace roper
