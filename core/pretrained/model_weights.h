#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/pretrained/architecture.h"
#include "core/pretrained/bias_rules.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Where the weight of a linear layer is stored: a tensor, or some of its rows.
struct MatrixLocation {
    std::string tensor;
    bool transposed = false;  ///< stored [in, out]
    std::int64_t out = 0, in = 0;
    /// First row and number of rows of each stretch, in order, in the tensor as [out, in]; none: all rows.
    struct Rows {
        std::int64_t first, count;
    };
    std::vector<Rows> rows = {};
    /// Position of the matrix in a tensor of several, one after another; empty: the tensor is the matrix.
    std::optional<std::int64_t> index = {};
};

struct VectorLocation {
    std::string tensor;
    std::int64_t size = 0;
    std::vector<MatrixLocation::Rows> parts = {};  ///< like `MatrixLocation::rows`
    std::optional<std::int64_t> index = {};        ///< like `MatrixLocation::index`
    /// Number of tensors that follow one another, with their numbers in place of "{}" in the name; 0: one.
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
    /// Gate and up in one matrix [2F, width], instead of `gate` and `up`: the gate first, or in turns, row by
    /// row.
    std::optional<LinearLocation> gate_up = {};
    bool gate_up_interleaved = false;
    LinearLocation up, down;
    std::optional<NormLocation> down_norm = {};  ///< of the input of `down` (`Architecture::norms_inner`)
    std::optional<Xielu> xielu = {};             ///< with `Activation::xielu`
};

/// A mixture of experts (`ExpertMixture`).
struct MixtureWeights {
    LinearLocation router;                      ///< [experts, width]
    std::optional<VectorLocation> choice_bias;  ///< [experts]
    /// Of expert 0; `expert` gives those of all. "{}" in the name of a tensor stands for the expert.
    FeedForwardWeights first;
    std::optional<FeedForwardWeights> shared;
    std::optional<LinearLocation> shared_gate;  ///< [1, width]

    FeedForwardWeights expert(std::int64_t number) const;
};

/// Multi-head latent attention (`LatentAttention`) of H heads, with n features that do not rotate and v
/// values.
struct LatentWeights {
    std::optional<LinearLocation> query_down;  ///< [query_rank, width]; queries are then computed from it
    std::optional<NormLocation> query_norm;    ///< [query_rank]
    LinearLocation down;                       ///< [rank, width]
    NormLocation norm;                         ///< [rank]
    LinearLocation shared_key;                 ///< the rotated part of keys [rotated, width]
    std::vector<MatrixLocation> keys;          ///< [H·n, rank], or for each head [n, rank]
    MatrixLocation values;                     ///< [H·v, rank]
};

/// Where the parameters of a block are stored; empty if the family has no such parameter.
struct BlockWeights {
    /// Absent without `Architecture::norms_before`, and in layer 0 without `norms_first_layer`.
    std::optional<NormLocation> attention_norm;
    LinearLocation query, key, value,
        output;  ///< [heads·d, width], [key_value_heads·d, width] twice, [width, heads·d]
    /// Instead of `key` and `value`; `query` is [heads·d, query_rank] if queries have a latent vector.
    std::optional<LatentWeights> latent;
    std::optional<NormLocation> mixed_norm;  ///< of the input of `output` (`Architecture::norms_inner`)
    std::optional<NormLocation> query_norm, key_norm;  ///< [d], or [heads·d] (`QueryKeyNorms`)
    std::optional<NormLocation> after_attention_norm, after_feed_forward_norm;
    /// Absent without `Architecture::norms_before`, and where both branches share a norm.
    std::optional<NormLocation> feed_forward_norm;
    std::optional<VectorLocation> sinks;  ///< [heads] (`Architecture::has_sinks`)
    FeedForwardWeights feed_forward;      ///< without parameters if the layer is a mixture
    std::optional<MixtureWeights> mixture;
};

struct ModelWeights {
    MatrixLocation embedding;                    ///< [vocabulary, embedding_width]
    std::optional<NormLocation> embedding_norm;  ///< with `Architecture::norms_embeddings`
    /// [width, embedding_width] and [embedding_width, width] (`Architecture::embedding_width`)
    std::optional<LinearLocation> embedding_in, embedding_out;
    std::optional<MatrixLocation> positions;    ///< [first_position + context, width]
    std::optional<MatrixLocation> token_types;  ///< [`Architecture::token_types`, width]
    std::vector<BlockWeights> blocks;
    std::optional<NormLocation> final_norm;  ///< absent with `Architecture::post_norm`
    /// [vocabulary, embedding_width]; the embedding if tied. Absent if the model has no head.
    std::optional<LinearLocation> head;
    /// W and b, and the norm, of `Architecture::head_activation`: [width, width].
    std::optional<LinearLocation> head_dense;
    std::optional<NormLocation> head_norm;
    std::int64_t parameters = 0;  ///< number of parameters, tied ones counted once
    /// Number of parameters that a token uses: without the experts that it does not take.
    std::int64_t parameters_per_token = 0;
    std::vector<std::string> notes;
};

/// Naming scheme of the tensors.
enum class Naming { hugging_face, gguf };

/// Finds every parameter of a model among its tensors and checks their shapes.
/// @param architecture  its vocabulary may be smaller than the embedding table, which is often padded; it is
/// set to the size of the table
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
