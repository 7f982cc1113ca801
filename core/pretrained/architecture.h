#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pretrained/gguf_file.h"
#include "core/rotary/attention_kind.h"
#include "core/rotary/rotary_config.h"

namespace roper {

enum class NormKind { rms, layer };
enum class Activation { silu, gelu, gelu_tanh, relu };

/// What a published decoder computes, in the terms in which the families of models differ. A block is
/// x + attention(norm(x)), then x + feed_forward(norm(x)).
struct Architecture {
    std::string family;  ///< Hugging Face's model_type: "llama"
    std::int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, key_value_heads = 0, head_dim = 0,
                 feed_forward = 0;
    std::int64_t context = 0;  ///< tokens of the texts that it was trained on

    NormKind norm = NormKind::rms;
    double norm_epsilon = 1e-5;
    bool norm_adds_one = false;  ///< norms multiply by 1 + weight (Gemma)
    bool norms_after =
        false;  ///< what attention and feed-forward give is normed before it is added (Gemma 2)
    bool query_key_norms = false;  ///< every query and key is normed before it is rotated (Qwen 3)
    bool parallel = false;         ///< x + attention(norm(x)) + feed_forward(norm′(x)) (GPT-NeoX)
    Activation activation = Activation::silu;
    bool gated = true;               ///< down(act(gate(x)) ⊙ up(x)); otherwise down(act(up(x)))
    bool learned_positions = false;  ///< a table of positions is added to the embeddings (GPT-2)
    double sinusoids = 0;            ///< sinusoids of this base are added to the embeddings; 0: none
    bool tied = false;               ///< the head is the table of embeddings

    double embedding_scale = 1;  ///< multiplies embeddings (Gemma: √width)
    double score_scale = 0;      ///< multiplies q·k; 0 stands for 1/√head_dim
    bool scores_by_layer =
        false;  ///< and by 1/(layer + 1), the first layer being 0 (GPT-2 as Mistral trained it)
    double score_softcap = 0;  ///< c: scores become c·tanh(score/c) (Gemma 2); 0: none
    double logit_softcap = 0;  ///< the same for logits
    std::int64_t window =
        0;  ///< in windowed layers a query attends to itself and window − 1 tokens before it
    std::vector<bool> windowed;  ///< of each layer; empty: none

    std::vector<RotaryConfig> rotations;
    std::vector<std::size_t> rotation_of_layer;  ///< one for each layer

    // What only models trained here have.
    bool post_norm = false;  ///< norm(x + attention(x)), then norm(x + feed_forward(x)); no final norm
    bool causal = true;      ///< otherwise every query sees all keys
    AttentionKind attention = AttentionKind::softmax;
    std::vector<RotaryConfig>
        value_rotations;  ///< as `rotations`: values rotate, and the output back (RoPER); empty: not
    std::vector<std::function<double(int distance)>>
        head_bias;  ///< added to the scores of each head; empty: nothing
    /// What a pair of a rotated query or key is multiplied by at a position (xPos); empty: 1.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay;

    const RotaryConfig& rotationOf(std::int64_t layer) const {
        return rotations[rotation_of_layer[static_cast<std::size_t>(layer)]];
    }
    bool isWindowed(std::int64_t layer) const {
        return window > 0 && !windowed.empty() && windowed[static_cast<std::size_t>(layer)];
    }
};

/// What a model is, and what a person should know about how that was read.
struct ArchitectureReading {
    Architecture architecture;
    std::vector<std::string> notes;
};

/// From the config.json of a Hugging Face folder, as transformers reads it.
/// @throws Error (usage) naming the member, what is wrong with it, and what is accepted
ArchitectureReading architectureOfConfig(std::string_view json);

/// From the metadata of a GGUF file.
/// @throws Error (checkpoint) naming the file and the entry
ArchitectureReading architectureOf(const GgufMetadata& metadata);

/// Families that are read, by the names of config.json.
const std::vector<std::string>& knownFamilies();

/// Bounds within which a model is believed to be one.
inline constexpr std::int64_t kMostVocabulary = 1 << 22, kMostWidth = 1 << 17, kMostLayers = 1024,
                              kMostHeads = 1024, kMostHeadDim = 1024, kMostFeedForward = 1 << 20;

}  // namespace roper
