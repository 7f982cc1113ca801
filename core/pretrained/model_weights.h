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
};

struct VectorLocation {
    std::string tensor;
    std::int64_t size = 0;
    std::vector<MatrixLocation::Rows> parts = {};  ///< like `MatrixLocation::rows`
};

struct LinearLocation {
    MatrixLocation weight;
    std::optional<VectorLocation> bias = {};
};

struct NormLocation {
    std::optional<VectorLocation> weight;
    std::optional<VectorLocation> bias = {};
};

/// Where the parameters of a block are stored; empty if the family has no such parameter.
struct BlockWeights {
    std::optional<NormLocation> attention_norm;  ///< absent without `Architecture::norms_before`
    LinearLocation query, key, value,
        output;  ///< [heads·d, width], [key_value_heads·d, width] twice, [width, heads·d]
    std::optional<NormLocation> query_norm, key_norm;  ///< [d], or [heads·d] (`QueryKeyNorms`)
    std::optional<NormLocation> after_attention_norm, after_feed_forward_norm;
    /// Absent without `Architecture::norms_before`, and where both branches share a norm.
    std::optional<NormLocation> feed_forward_norm;
    std::optional<LinearLocation> gate;
    LinearLocation up, down;
};

struct ModelWeights {
    MatrixLocation embedding;                 ///< [vocabulary, width]
    std::optional<MatrixLocation> positions;  ///< [context, width]
    std::vector<BlockWeights> blocks;
    std::optional<NormLocation> final_norm;  ///< absent with `Architecture::post_norm`
    /// [vocabulary, width]; the embedding if tied. Absent if the model has no head.
    std::optional<LinearLocation> head;
    std::int64_t parameters = 0;  ///< number of parameters, tied ones counted once
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

}  // namespace roper
