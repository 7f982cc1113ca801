#pragma once

#include <string>
#include <vector>

#include "core/pretrained/architecture.h"

namespace roper {

/// How the tensors of a file are called: what stands before all, before those of a layer, and after it for
/// each part. An empty name is one that the family lacks.
struct TensorNames {
    std::string embedding, positions, final_norm, head;
    std::string layer;  ///< "model.layers.{}."
    std::string attention_norm, query, key, value, query_key_value, output, query_norm, key_norm,
        after_attention_norm, feed_forward_norm, gate, up, down, after_feed_forward_norm;
};

/// The name of the family of models that were trained here.
inline constexpr const char* kOurFamily = "roper";

/// A family of models: what is the same for all of them.
struct Family {
    const char* model_type;  ///< in config.json
    const char* gguf;        ///< general.architecture; empty for one that has no name there
    /// What the family has beside the numbers of its config.
    void (*describe)(Architecture&);
    TensorNames names;  ///< in a Hugging Face folder
    bool interleaved_heads =
        false;  ///< there, query_key_value is q, k, v of head 0, then those of head 1, … (GPT-NeoX)
    bool transposed = false;  ///< there, linear weights are [in, out] (GPT-2)
    bool gguf_interleaves =
        false;             ///< the converter to GGUF reorders q and k so that neighbours make a pair (Llama)
    bool is_ours = false;  ///< models trained here, which no config.json names
};

const std::vector<Family>& families();

/// Null for one that is not known.
const Family* familyNamed(const std::string& model_type);
const Family* familyOfGguf(const std::string& architecture);

/// The names in a GGUF file, the same for every family.
const TensorNames& ggufNames();

}  // namespace roper
