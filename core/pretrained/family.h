#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pretrained/architecture.h"
#include "core/pretrained/bias_rules.h"

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

/// What decides about biases in the family's class in transformers.
struct ConfigBiases {
    BiasRules plain;                          ///< where no flag of the config decides
    const char* attention_flag = nullptr;     ///< decides about q, k, v and the output; null: none does
    bool attention_usually = false;           ///< what it is where it is missing
    const char* feed_forward_flag = nullptr;  ///< decides about the feed-forward layers, false where missing
};

/// Which layers attend within the window where no list of the config says so.
enum class WindowedLayers {
    none,               ///< there is no window, whatever the config says
    all,                ///< every layer (Mistral)
    all_but_each_nth,   ///< every n-th layer, counted from 1, sees all (Gemma 2 and 3)
    from_max_window_on  ///< those from `max_window_layers` on, 28 if it is missing (Qwen)
};

/// What the family's class in transformers reads of a config.json, and takes where that does not say it. A
/// null key is one that the class does not read.
struct ConfigRules {
    std::int64_t context = 2048;             ///< tokens
    std::int64_t feed_forward_by_width = 0;  ///< the feed-forward's width by the model's; 0: it must be said
    const char* activation_key = "hidden_act";   ///< the activation itself is set by `describe`
    bool tied = false;                           ///< the head is the table of embeddings
    const char* query_scalar_key = nullptr;      ///< s, 256 if missing: scores are multiplied by 1/√s
    const char* scales_scores_flag = nullptr;    ///< where it is false, scores are not multiplied by 1/√d
    const char* scales_by_layer_flag = nullptr;  ///< where it is true, `Architecture::scores_by_layer`
    const char* bidirectional_flag = nullptr;    ///< where it is true, every query sees all keys

    WindowedLayers windowed = WindowedLayers::none;
    int window_pattern = 2;             ///< n of `all_but_each_nth`
    const char* window_flag = nullptr;  ///< there is a window only where it is true

    ConfigBiases biases;
};

/// What llama.cpp knows of the family beside what a GGUF file says.
struct GgufRules {
    bool interleaves = false;  ///< the converter reorders q and k so that neighbours make a pair (Llama)
    bool whole_heads = false;  ///< heads rotate whole, whatever rope.dimension_count says: another is refused
    bool has_frequency_factors = false;  ///< rope_freqs.weight may divide its frequencies (Llama 3)
    /// The base of layers within a window where no entry says it, and those have no scaling (Gemma 3);
    /// nothing: they rotate as all others do.
    std::optional<double> windowed_base;

    std::int64_t window = 0;  ///< tokens, where no entry says it; 0: none
    /// Which layers attend within it, where no entry says it: all but each n-th; 0: all. Nothing for a family
    /// whose windows no file and no program tells.
    std::optional<std::int64_t> window_pattern;
    /// A model of so many layers multiplies scores by 1/√(width / heads) instead of 1/√d, which no entry
    /// says: Gemma's of 27 B, which llama.cpp knows by their layers, too. 0: none.
    std::int64_t layers_scored_by_width = 0;

    BiasRules biases;
    bool old_files_cut_as_gpt2 = false;  ///< files older than tokenizer.ggml.pre cut words as GPT-2 does
    /// How tensors begin that no text passes: those of a part that reads images.
    std::vector<std::string> of_images;
};

/// A family of models: what is the same for all of them. To add one that computes in these terms is to add it
/// to the table in family.cpp.
struct Family {
    const char* model_type = "";  ///< in config.json
    const char* gguf = "";        ///< general.architecture; empty for one that has no name there
    /// What the family has beside the numbers of its config.
    void (*describe)(Architecture&) = nullptr;
    bool is_ours = false;  ///< models trained here, which no config.json names

    // What config.json and GGUF files call the same, and what holds where they do not say it.
    const char* parallel_flag =
        nullptr;                      ///< decides about `Architecture::parallel`, true if missing; null: not
    std::optional<double> score_cap;  ///< attn_logit_softcapping; nothing: it is not read
    std::optional<double> logit_cap;  ///< final_logit_softcapping; nothing: it is not read

    // Its tensors in a Hugging Face folder.
    TensorNames names;
    bool interleaved_heads =
        false;                ///< query_key_value is q, k, v of head 0, then those of head 1, … (GPT-NeoX)
    bool transposed = false;  ///< linear weights are [in, out] (GPT-2)
    const char* other_head = "";  ///< another name of the head, which transformers 5 gives it unless it saves
                                  ///< files as before; empty: none
    /// Ends of the names of tables and masks that its class makes itself and that old files hold all the
    /// same.
    std::vector<std::string> made_by_its_class;

    ConfigRules in_config;
    GgufRules in_gguf;
};

const std::vector<Family>& families();

/// Null for one that is not known.
const Family* familyNamed(const std::string& model_type);
const Family* familyOfGguf(const std::string& architecture);

/// The biases of a model of the family with such a config.json.
BiasRules biasesOfConfig(const Family& family, std::string_view config);

/// The names in a GGUF file, the same for every family.
const TensorNames& ggufNames();

}  // namespace roper
