#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/pretrained/bias_rules.h"
#include "core/pretrained/gguf_file.h"
#include "core/rotary/attention_kind.h"
#include "core/rotary/head_layout.h"
#include "core/rotary/rotary_config.h"

namespace roper {

enum class NormKind { rms, layer };
enum class Activation { silu, gelu, gelu_tanh, relu, relu_squared, xielu };

/// The activation of a layer (xIELU, arXiv:2411.13010): for x > 0 softplus(α_p)·x² + β·x, otherwise
/// (β + softplus(α_n))·(exp(min(x, ε)) − 1 − x) + β·x.
struct Xielu {
    double alpha_p = 0, alpha_n = 0, beta = 0, epsilon = 0;
};

/// Whether queries and keys are normed before they rotate.
enum class QueryKeyNorms {
    none,
    shared_weights,  ///< each head by itself, all with the same weights [d] (Qwen 3)
    per_head,        ///< each head by itself, with its own weights [heads, d] (Cohere)
    all_heads        ///< all heads of a token together, [heads·d] (OLMo 2)
};

/// How a router makes scores of its logits, one for each expert.
enum class RouterScores {
    softmax,
    sigmoid,
    sqrt_softplus,  ///< √ln(1 + eˣ) (DeepSeek V4)
    /// Of each chosen expert in turn: the softmax over those left whose logits are close to the largest
    /// (SparseMixer, arXiv:2409.12136)
    sparse_mixer
};

/// Feed-forward layers that are mixtures of experts: a router chooses, for each token, some of many
/// feed-forward layers, and their weighted sum is the output.
struct ExpertMixture {
    std::int64_t experts = 0;              ///< 0: the model has no mixtures
    std::int64_t per_token = 0;            ///< experts chosen for a token
    std::int64_t feed_forward = 0;         ///< width of an expert
    std::int64_t shared_feed_forward = 0;  ///< width of the expert that all tokens take; 0: none
    std::vector<bool> layers = {};         ///< which layers are mixtures; the others are dense
    RouterScores scores = RouterScores::softmax;
    bool router_bias = false, expert_biases = false;
    /// The layer's dense feed-forward is computed as well, and both outputs are normed and added; the router
    /// and the experts read the residual through norms of their own (Gemma 4).
    bool beside_dense = false;
    /// The layer's dense feed-forward is computed as well, and the output of the mixture is added after the
    /// next layer (LongCat Flash, arXiv 2404.05019).
    bool skips_layer = false;
    std::int64_t identity_experts = 0;  ///< further experts, whose outputs are their inputs (LongCat Flash)
    bool choice_bias = false;  ///< experts are chosen by score + bias, and weighted by score (DeepSeek V3)
    /// Mixtures in which a table gives the experts of each token, whatever its scores; empty: none (DeepSeek
    /// V4).
    std::vector<bool> hashed = {};
    bool shared_is_gated = false;  ///< the shared expert's output is multiplied by a sigmoid (Qwen 2)
    bool weighs_inputs = false;    ///< weights multiply the inputs of experts, not their outputs (Llama 4)
    bool normalizes = true;        ///< the weights of a token are divided by their sum
    double min_weight_sum = 0;     ///< lower bound of that divisor
    double added_weight_sum = 0;   ///< added to that divisor (LFM2)
    double scale = 1;              ///< multiplies the weights
    /// Experts form groups; those of a token are in the `groups_per_token` groups whose best experts have the
    /// largest sum of scores.
    std::int64_t groups = 1, groups_per_token = 1;
    std::int64_t summed_of_group = 2;  ///< number of those best experts (1 in DeepSeek V2)
    double jitter_epsilon =
        0;  ///< ε of `sparse_mixer`: logits whose relative distance to the largest exceeds 2ε are masked

    std::int64_t choices() const { return experts + identity_experts; }
    /// Whether layers that are mixtures have a dense feed-forward, too.
    bool hasDenseBeside() const { return beside_dense || skips_layer; }
    bool isIn(std::int64_t layer) const { return experts > 0 && layers[static_cast<std::size_t>(layer)]; }
    bool isHashed(std::int64_t layer) const {
        return !hashed.empty() && hashed[static_cast<std::size_t>(layer)];
    }
    bool hasHashed() const { return std::find(hashed.begin(), hashed.end(), true) != hashed.end(); }
};

/// Multi-head latent attention (DeepSeek V2, arXiv 2405.04434): keys and values are computed from a short
/// latent vector of each token, and the rotated part of the keys is one for all heads. Queries and keys begin
/// with their rotated part here, whatever the order in files, which scores do not depend on.
struct LatentAttention {
    std::int64_t rank = 0;              ///< width of the latent vector; 0: no latent attention
    std::int64_t query_rank = 0;        ///< the same for queries; 0: they are computed from x
    std::int64_t rotated = 0;           ///< width of the rotated part
    double query_scale = 1, scale = 1;  ///< multiply both latent vectors (LongCat Flash)

    bool isUsed() const { return rank > 0; }
};

/// DeepSeek Sparse Attention (arXiv 2512.02556): in latent attention, a query sees only the keys to which a
/// small attention of its own gives the largest scores.
struct KeyIndexer {
    std::int64_t keys = 0;  ///< that a query sees; 0: all
    std::int64_t heads = 0, head_dim = 0;

    bool isUsed() const { return keys > 0; }
};

/// What mixes the tokens of a layer.
enum class Mixer {
    attention,
    short_convolution,  ///< a gated convolution of a few tokens (LFM2, arXiv 2511.23404)
    gated_delta         ///< a state that each token corrects (Gated DeltaNet, arXiv 2412.06464)
};

/// Sizes of `Mixer::gated_delta`.
struct GatedDelta {
    std::int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
    std::int64_t taps = 0;  ///< K of the convolution of queries, keys and values
    /// Value head i uses key head i mod key_heads, not ⌊i·key_heads / value_heads⌋ (llama.cpp's Qwen 3.5).
    bool is_tiled = false;

    std::int64_t keysWidth() const { return key_heads * key_dim; }
    std::int64_t valuesWidth() const { return value_heads * value_dim; }
};

/// Alternating updates (AltUp, arXiv 2301.13310): a token has several residual streams. A layer predicts all
/// of them, computes one, and corrects all by how far its prediction was off.
struct AlternatingUpdates {
    std::int64_t streams = 0;   ///< 0: there is one residual stream
    std::int64_t active = 0;    ///< the stream that layers compute
    bool scales_active = true;  ///< it is multiplied by weights before it gates the layer's embeddings

    bool isUsed() const { return streams > 0; }
};

/// Manifold-constrained hyper-connections (arXiv 2512.24880): a token has several residual streams. Attention
/// and feed-forward read a weighted sum of them, their output is added to each with a weight of its own, and
/// a doubly stochastic matrix mixes the streams. All three are computed from the streams.
struct HyperConnections {
    std::int64_t streams = 0;     ///< 0: there is one residual stream
    std::int64_t iterations = 0;  ///< of Sinkhorn's algorithm, which makes the matrix doubly stochastic
    double epsilon = 0;           ///< added to weights and to sums that are divisors

    bool isUsed() const { return streams > 0; }
};

/// Embeddings of tokens for each layer (per-layer embeddings of Gemma 3n and 4), which a gate adds to the
/// residual at the end of the layer.
struct LayerEmbeddings {
    std::int64_t width = 0;       ///< n of a layer's embeddings; 0: there are none
    std::int64_t vocabulary = 0;  ///< rows of their table
    bool wraps_unknown = false;   ///< tokens beyond it have the embeddings of token 0 (Gemma 3n)

    bool isUsed() const { return width > 0; }
};

/// What a published model computes, described by the features in which families differ. A block is
/// x + attention(norm(x)), then x + feed_forward(norm(x)).
struct Architecture {
    std::string family;  ///< Hugging Face's model_type, such as "llama"
    /// The model_type of the model whose language model this is, such as "gemma3"; empty: it is all.
    std::string composite;
    std::int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, key_value_heads = 0, head_dim = 0,
                 feed_forward = 0;
    bool shared_kv = false;       ///< values are the keys, which are stored once
    std::int64_t query_rank = 0;  ///< width of a latent vector from which queries are computed; 0: from x
    /// The outputs of heads form groups, each of which a matrix of its own maps to so many numbers that the
    /// output projection reads (DeepSeek V4); 0 groups: it reads the outputs.
    std::int64_t output_groups = 0, output_rank = 0;
    std::int64_t value_dim = 0;  ///< width of a head's values; 0: head_dim
    std::int64_t context = 0;    ///< context length in training, tokens
    LatentAttention latent = {};
    KeyIndexer indexer = {};
    std::vector<Mixer> mixers = {};     ///< of each layer; empty: attention
    std::int64_t convolution_taps = 0;  ///< tokens on which an output of `short_convolution` depends
    bool convolution_biases = false;
    GatedDelta gated_delta = {};
    // Sizes that differ between layers; empty: all layers are alike, and otherwise those above are the
    // largest. The width of a head is that of the layer's rotation.
    std::vector<std::int64_t> key_value_heads_of_layer = {}, feed_forward_of_layer = {};
    /// For each layer the one whose keys and values it uses, itself or an earlier one; empty: its own.
    std::vector<std::int64_t> key_value_source = {};
    /// Full-attention layers have no values of their own but norm their keys in place of them (Gemma 4).
    bool values_are_keys = false;
    /// Width of embeddings, if a matrix each maps them to `width` and the last hidden states back (OPT 350M);
    /// 0: width.
    std::int64_t embedding_width = 0;

    NormKind norm = NormKind::rms;
    double norm_epsilon = 1e-5;
    bool norm_weights = true;    ///< norms multiply by a weight (all but OLMo)
    bool norm_biases = true;     ///< layer norms add a bias (all but Cohere)
    bool norm_adds_one = false;  ///< norms multiply by 1 + weight (Gemma)
    bool norms_before = true;    ///< attention and feed-forward read the normed residual (all but OLMo 2)
    bool norms_after = false;    ///< their outputs are normed before the addition (Gemma 2)
    /// The heads' mixed values, and what the last matrix of the feed-forward reads, are normed (BitNet).
    bool norms_inner = false;
    bool norms_embeddings = false;  ///< embeddings are normed before the first layer (BLOOM, encoders)
    bool has_final_norm = true;
    bool norms_values = false;   ///< each head norms its values, without weights (Gemma 3n)
    bool gates_heads = false;    ///< the heads' outputs are multiplied by a sigmoid of x (Qwen3-Next)
    bool scales_layers = false;  ///< a layer's output is multiplied by a number of its own (Gemma 4)
    QueryKeyNorms query_key_norms = QueryKeyNorms::none;
    bool query_key_norm_weights = true;  ///< these norms multiply by weights
    bool query_norm_weights = true;      ///< that of queries does, if that of keys does (all but DeepSeek V4)
    bool query_key_norm_biases = true;   ///< these norms, if layer norms, add biases (all but StableLM)
    /// Queries and keys are normed after their rotation (Hunyuan, Llama 4).
    bool norms_rotated = false;
    bool norms_unrotated_layers = true;  ///< also in layers that do not rotate (all but Llama 4)
    bool parallel = false;               ///< x + attention(norm(x)) + feed_forward(norm′(x)) (GPT-NeoX)
    bool shares_norm = false;            ///< norm′ of a parallel block is norm itself (Phi, Cohere, GPT-J)
    Activation activation = Activation::silu;
    std::vector<Xielu> xielu = {};  ///< for each layer, if a GGUF file has them
    /// z for each layer: its gate becomes max(gate − μ − z·σ, 0) with the mean and the standard deviation of
    /// the token's gate, before the activation; −∞: not. Empty: in no layer (Gemma 3n).
    std::vector<double> gate_cutoffs = {};
    bool gated = true;                ///< down(act(gate(x)) ⊙ up(x)); otherwise down(act(up(x)))
    bool learned_positions = false;   ///< learned position embeddings are added to the embeddings (GPT-2)
    std::int64_t first_position = 0;  ///< row of their table for the first token (OPT: 2)
    double sinusoids = 0;             ///< base of the sinusoids added to the embeddings; 0: none
    /// Experts compute down((up(x) + 1) ⊙ g·σ(α·g)) for g = gate(x), with g at most, and up(x) within, this
    /// limit; 0: as `gated` says (gpt-oss).
    double gate_limit = 0, gate_steepness = 1;
    /// In gated layers, g is at most, and up(x) within, this limit before the activation; 0: not limited
    /// (DeepSeek V4).
    double swiglu_limit = 0;
    ExpertMixture mixture = {};
    AlternatingUpdates altup = {};
    HyperConnections hyper = {};
    /// Rank r of the learned augmented residual x + norm(W_r W_l x) of the normed residual x, which is added
    /// to attention's output (LAuReL, arXiv 2411.07501); 0: none.
    std::int64_t laurel_rank = 0;
    LayerEmbeddings layer_embeddings = {};
    bool tied = false;  ///< the head shares its matrix with the embeddings

    // Features of encoders.
    bool causal = true;  ///< otherwise every query attends to all keys
    bool predicts_masked =
        false;  ///< logits at a position are of the masked token there, not of the next one
    std::int64_t token_types = 0;   ///< embeddings of segments, of which the first is added to all tokens
    bool norms_first_layer = true;  ///< attention of layer 0 reads the normed residual (all but ModernBERT)
    /// Logits are of norm(act(W x + b)) instead of x, with this activation.
    std::optional<Activation> head_activation = {};
    /// p: the mask token is embedded as 0, and all embeddings are multiplied by (1 − p) / (1 − share of the
    /// text that is masked) (ESM); 0: not.
    double mask_dropout = 0;
    std::int64_t mask_token = 0;  ///< for `mask_dropout`

    double embedding_scale = 1;  ///< multiplies embeddings (Gemma: √width)
    double residual_scale = 1;   ///< multiplies what attention and feed-forward add (Granite)
    double logit_scale = 1;      ///< multiplies logits, before they are capped (Cohere)
    double clip = 0;             ///< c: elements of q, k and v are clipped to −c … c (OLMo); 0: not
    double score_scale = 0;      ///< multiplies q·k; 0 means 1/√head_dim
    /// β, L and m: the query at position n is multiplied by 1 + β·ln(1 + ⌊(n + m)/L⌋) (Llama 4, Ministral 3);
    /// β = 0: not.
    double query_growth = 0, query_growth_length = 1, query_growth_offset = 0;
    bool grows_rotated_layers = true;  ///< also in layers that rotate (all but Llama 4)
    /// Also divides scores by layer + 1, counted from 0 (GPT-2 as trained by Mistral).
    bool scores_by_layer = false;
    bool has_sinks = false;    ///< softmax has a further score for each head, whose value is zero (gpt-oss)
    double score_softcap = 0;  ///< c: scores become c·tanh(score/c) (Gemma 2); 0: none
    double logit_softcap = 0;  ///< the same for logits
    /// In windowed layers a query attends to itself and the window − 1 tokens before it.
    std::int64_t window = 0;
    std::vector<bool> windowed;  ///< for each layer; empty: none
    /// In windowed layers the text is divided into chunks of `window` tokens, and a query attends to the
    /// tokens of its own up to itself (Llama 4).
    bool chunked = false;

    std::vector<RotaryConfig> rotations;
    std::vector<std::size_t> rotation_of_layer;  ///< an index for each layer

    bool post_norm = false;  ///< norm(x + attention(x)), then norm(x + feed_forward(x)); no final norm
    /// Added to the scores of each head; empty: no bias.
    std::vector<std::function<double(int distance)>> head_bias;
    /// The same, by the position of the key (Falcon).
    std::vector<std::function<double(int position)>> key_bias;

    // Only models trained here have most of these.
    AttentionKind attention = AttentionKind::softmax;
    /// Like `rotations`: values rotate; empty: they do not.
    std::vector<RotaryConfig> value_rotations;
    /// Which tensors the rotations above rotate. RoFormer's rotary_value never rotates outputs back.
    RotatedTensors rotated = kRoperTensors;
    /// Factor on a pair of a rotated query or key at a position (xPos); empty: 1.
    std::function<double(int pair, int pairs, double position, bool is_query)> decay;

    /// Which tensors rotate in any layer.
    RotatedTensors rotatedTensors() const {
        const auto any = [](const std::vector<RotaryConfig>& of_layers) {
            return std::any_of(of_layers.begin(), of_layers.end(),
                               [](const RotaryConfig& one) { return one.rotatedWidth() > 0; });
        };
        const bool scores = any(rotations), values = any(value_rotations);
        return {scores && rotated.query, scores && rotated.key, values && rotated.value,
                values && rotated.output};
    }
    bool rotatesValues() const { return !value_rotations.empty() && rotated.value; }
    bool rotatesOutputs() const { return !value_rotations.empty() && rotated.output; }
    bool hasBias() const { return !head_bias.empty() || !key_bias.empty(); }
    /// Whether a token has residual streams, be it only one, that are split and joined.
    bool hasStreams() const { return altup.isUsed() || hyper.isUsed(); }
    std::int64_t embeddingWidth() const { return embedding_width > 0 ? embedding_width : width; }
    /// Whether the layer attends; otherwise it has no heads.
    bool hasHeads(std::int64_t layer) const {
        return mixers.empty() || mixers[static_cast<std::size_t>(layer)] == Mixer::attention;
    }
    /// Width of a layer's heads.
    std::int64_t headDimOf(std::int64_t layer) const { return rotationOf(layer).head_dim; }
    /// The factor c of the scores c·q·k in a layer.
    double scoreScaleOf(std::int64_t layer) const {
        const double scale =
            score_scale > 0 ? score_scale : 1 / std::sqrt(static_cast<double>(headDimOf(layer)));
        return scale / (scores_by_layer ? static_cast<double>(layer + 1) : 1);
    }
    /// Width of the values and outputs of a layer's heads.
    std::int64_t valueWidthOf(std::int64_t layer) const {
        return value_dim > 0 ? value_dim : headDimOf(layer);
    }
    std::int64_t keyValueHeadsOf(std::int64_t layer) const {
        return key_value_heads_of_layer.empty() ? key_value_heads
                                                : key_value_heads_of_layer[static_cast<std::size_t>(layer)];
    }
    std::int64_t feedForwardOf(std::int64_t layer) const {
        return feed_forward_of_layer.empty() ? feed_forward
                                             : feed_forward_of_layer[static_cast<std::size_t>(layer)];
    }
    /// Whether a layer uses keys and values of an earlier one.
    bool sharesKeysAndValues(std::int64_t layer) const {
        return !key_value_source.empty() && key_value_source[static_cast<std::size_t>(layer)] != layer;
    }
    /// Whether later layers use its keys and values.
    bool isKeyValueSource(std::int64_t layer) const {
        return std::count(key_value_source.begin(), key_value_source.end(), layer) > 1;
    }
    const RotaryConfig& rotationOf(std::int64_t layer) const {
        return rotations[rotation_of_layer[static_cast<std::size_t>(layer)]];
    }
    bool normsQueriesIn(std::int64_t layer) const {
        return query_key_norms != QueryKeyNorms::none &&
               (norms_unrotated_layers || rotationOf(layer).rotatedWidth() > 0);
    }
    bool isWindowed(std::int64_t layer) const {
        return window > 0 && !windowed.empty() && windowed[static_cast<std::size_t>(layer)];
    }
};

/// The architecture, and notes for the user about how it was read.
struct ParsedArchitecture {
    Architecture architecture;
    BiasRules biases = {};
    std::vector<std::string> notes;
};

/// Reads the config.json of a Hugging Face folder, as transformers does.
/// @throws Error (usage) naming the member, what is wrong with it, and what is accepted
ParsedArchitecture readConfigArchitecture(std::string_view json);

/// Reads the metadata of a GGUF file.
/// @throws Error (checkpoint) naming the file and the entry
ParsedArchitecture readGgufArchitecture(const GgufMetadata& metadata);

/// Supported families, by model_type.
const std::vector<std::string>& knownFamilies();

/// Upper limits; a file that exceeds them is taken to be corrupt.
inline constexpr std::int64_t kMaxVocabulary = 1 << 22, kMaxWidth = 1 << 17, kMaxLayers = 1024,
                              kMaxHeads = 1024, kMaxHeadDim = 1024, kMaxFeedForward = 1 << 20,
                              kMaxExperts = 4096;

}  // namespace roper
