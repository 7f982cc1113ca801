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

/// Parameters of a layer's activation xIELU (arXiv:2411.13010): softplus(α_p)·x² + β·x for x > 0, otherwise
/// (β + softplus(α_n))·(exp(min(x, ε)) − 1 − x) + β·x.
struct Xielu {
    double alpha_p = 0, alpha_n = 0, beta = 0, epsilon = 0;
};

/// Whether queries and keys are normalized, and with which weights; d is the width of a head.
enum class QueryKeyNorms {
    none,
    shared_weights,  ///< each head by itself, all with the same weights [d] (Qwen 3)
    per_head,        ///< each head by itself, with its own weights [heads, d] (Cohere)
    all_heads        ///< all heads of a token together, [heads·d] (OLMo 2)
};

/// How a router turns its logits, one for each expert, into scores.
enum class RouterScores {
    softmax,
    sigmoid,
    sqrt_softplus,  ///< √ln(1 + eˣ) (DeepSeek V4)
    /// For each chosen expert in turn, softmax over the remaining ones whose logits are close to the largest
    /// (SparseMixer, arXiv:2409.12136)
    sparse_mixer
};

/// Feed-forward layers that are mixtures of experts: for each token, a router chooses some of many
/// feed-forward layers (experts), whose weighted sum is the output.
struct ExpertMixture {
    std::int64_t experts = 0;              ///< 0: the model has no mixtures
    std::int64_t per_token = 0;            ///< experts chosen for a token
    std::int64_t feed_forward = 0;         ///< hidden width of an expert
    std::int64_t shared_feed_forward = 0;  ///< the same for the expert of all tokens; 0: none
    std::vector<bool> layers = {};         ///< which layers are mixtures; the others are dense
    RouterScores scores = RouterScores::softmax;
    bool router_bias = false, expert_biases = false;
    /// The layer's dense feed-forward is computed as well, and both outputs are normalized and added; the
    /// router and the experts read the residual through norms of their own (Gemma 4).
    bool beside_dense = false;
    /// The layer's dense feed-forward is computed as well, and the output of the mixture is added after the
    /// next layer (LongCat Flash, arXiv 2404.05019).
    bool skips_layer = false;
    std::int64_t identity_experts = 0;  ///< further experts, whose outputs are their inputs (LongCat Flash)
    bool choice_bias = false;  ///< experts are chosen by score + bias, and weighted by score (DeepSeek V3)
    /// For each layer, whether a table gives the experts of each token, whatever their scores; empty: in none
    /// (DeepSeek V4).
    std::vector<bool> hashed = {};
    bool shared_is_gated = false;  ///< the shared expert's output is multiplied by a sigmoid (Qwen 2)
    bool weighs_inputs = false;    ///< weights multiply the inputs of experts, not their outputs (Llama 4)
    bool normalizes = true;        ///< the weights of a token are divided by their sum
    double min_weight_sum = 0;     ///< lower bound of that divisor
    double added_weight_sum = 0;   ///< added to that divisor (LFM2)
    double scale = 1;              ///< multiplies the weights
    /// Experts form groups. A token chooses only in the `groups_per_token` groups whose
    /// `experts_summed_per_group` best experts have the largest sum of scores.
    std::int64_t groups = 1, groups_per_token = 1;
    std::int64_t experts_summed_per_group = 2;  ///< 1 in DeepSeek V2
    /// ε of `sparse_mixer`: logits whose relative distance to the largest exceeds 2ε are masked.
    double jitter_epsilon = 0;

    /// Number of experts from which the router chooses.
    std::int64_t choices() const { return experts + identity_experts; }
    /// Whether layers that are mixtures have a dense feed-forward, too.
    bool hasDenseBeside() const { return beside_dense || skips_layer; }
    /// Whether the layer is a mixture.
    bool isIn(std::int64_t layer) const { return experts > 0 && layers[static_cast<std::size_t>(layer)]; }
    bool isHashed(std::int64_t layer) const {
        return !hashed.empty() && hashed[static_cast<std::size_t>(layer)];
    }
    bool hasHashed() const { return std::find(hashed.begin(), hashed.end(), true) != hashed.end(); }
};

/// Multi-head latent attention (DeepSeek V2, arXiv 2405.04434): keys and values are computed from a short
/// latent vector of each token, and all heads share the rotated features of the key. Here these come first in
/// queries and keys, whatever their order in files, on which scores do not depend.
struct LatentAttention {
    std::int64_t rank = 0;              ///< width of the latent vector; 0: no latent attention
    std::int64_t query_rank = 0;        ///< the same for queries; 0: they have no latent vector
    std::int64_t rotated = 0;           ///< rotated features of a query or key
    double query_scale = 1, scale = 1;  ///< factors on both latent vectors (LongCat Flash)

    bool isUsed() const { return rank > 0; }
};

/// DeepSeek Sparse Attention (arXiv 2512.02556): in latent attention, a query attends only to the keys with
/// the largest scores in a small separate attention, the indexer.
struct KeyIndexer {
    std::int64_t keys = 0;  ///< number of keys a query attends to; 0: all
    std::int64_t heads = 0, head_dim = 0;

    bool isUsed() const { return keys > 0; }
};

/// How a layer moves information between tokens.
enum class Mixer {
    attention,
    short_convolution,  ///< a gated convolution of a few tokens (LFM2, arXiv 2511.23404)
    gated_delta         ///< a recurrent state that each token corrects (Gated DeltaNet, arXiv 2412.06464)
};

/// Sizes of `Mixer::gated_delta`.
struct GatedDelta {
    std::int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
    std::int64_t taps = 0;  ///< kernel length K of the convolution of queries, keys and values
    /// Value head i uses key head i mod key_heads, not ⌊i·key_heads / value_heads⌋ (llama.cpp's Qwen 3.5).
    bool is_tiled = false;

    std::int64_t keysWidth() const { return key_heads * key_dim; }
    std::int64_t valuesWidth() const { return value_heads * value_dim; }
};

/// Alternating updates (AltUp, arXiv 2301.13310): a token has several residual streams. A layer predicts all
/// of them, computes one, and corrects all by how far its prediction was off.
struct AlternatingUpdates {
    std::int64_t streams = 0;   ///< 0: there is one residual stream
    std::int64_t active = 0;    ///< index of the stream that layers compute
    bool scales_active = true;  ///< the active stream has weights before it gates the layer's embeddings

    bool isUsed() const { return streams > 0; }
};

/// Manifold-constrained hyper-connections (arXiv 2512.24880): a token has several residual streams. Attention
/// and feed-forward read a weighted sum of them, their output is added to each with a weight of its own, and
/// a doubly stochastic matrix mixes the streams. Weights and matrix are computed from the streams.
struct HyperConnections {
    std::int64_t streams = 0;     ///< 0: there is one residual stream
    std::int64_t iterations = 0;  ///< of Sinkhorn's algorithm, which makes the matrix doubly stochastic
    double epsilon = 0;           ///< added to weights and to sums that are divisors

    bool isUsed() const { return streams > 0; }
};

/// Embeddings of tokens for each layer (per-layer embeddings of Gemma 3n and 4), which a gate adds to the
/// residual at the end of the layer.
struct LayerEmbeddings {
    std::int64_t width = 0;       ///< width n of a layer's embeddings; 0: there are none
    std::int64_t vocabulary = 0;  ///< rows of their table
    bool wraps_unknown = false;   ///< tokens beyond the table have the embeddings of token 0 (Gemma 3n)

    bool isUsed() const { return width > 0; }
};

/// What a published model computes, described by the features in which families differ. A block is r +
/// attention(x), then r + feed_forward(x), for the residual r of each token and x = norm(r). In comments
/// below, d is the width of a head, and q and k are a query and a key.
struct Architecture {
    std::string family;  ///< Hugging Face's model_type, such as "llama"
    /// The model_type of the composite model whose language model this is, such as "gemma3"; empty: none.
    std::string composite;
    /// `width` is that of the residual, `feed_forward` that of the hidden layer of feed-forward layers.
    std::int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, key_value_heads = 0, head_dim = 0,
                 feed_forward = 0;
    bool shared_kv = false;       ///< values are the keys, which are stored once
    std::int64_t query_rank = 0;  ///< width of a latent vector from which queries are computed; 0: none
    /// The outputs of heads form groups. A matrix for each group maps it to `output_rank` numbers, which the
    /// output projection reads (DeepSeek V4). 0 groups: it reads the outputs.
    std::int64_t output_groups = 0, output_rank = 0;
    std::int64_t value_dim = 0;  ///< width of a head's values; 0: head_dim
    std::int64_t context = 0;    ///< context length in training, tokens
    LatentAttention latent = {};
    KeyIndexer indexer = {};
    std::vector<Mixer> mixers = {};     ///< of each layer; empty: attention
    std::int64_t convolution_taps = 0;  ///< tokens on which an output of `short_convolution` depends
    bool convolution_biases = false;
    GatedDelta gated_delta = {};
    // Sizes for each layer, of which those above are the largest; empty: all layers are alike. The width of a
    // layer's heads is that of its rotation.
    std::vector<std::int64_t> key_value_heads_of_layer = {}, feed_forward_of_layer = {};
    /// For each layer, the index of the one whose keys and values it uses, itself or an earlier one; empty:
    /// itself.
    std::vector<std::int64_t> key_value_source = {};
    /// Full-attention layers have no value projection: their normalized keys serve as values (Gemma 4).
    bool values_are_keys = false;
    /// Width of embeddings if one matrix maps them to `width`, and another the last residual back (OPT 350M);
    /// 0: `width`.
    std::int64_t embedding_width = 0;

    NormKind norm = NormKind::rms;
    double norm_epsilon = 1e-5;
    bool norm_weights = true;    ///< norms multiply by a weight (all but OLMo)
    bool norm_biases = true;     ///< layer norms add a bias (all but Cohere)
    bool norm_adds_one = false;  ///< norms multiply by 1 + weight (Gemma)
    bool norms_before = true;    ///< attention and feed-forward read norm(r), not r (all but OLMo 2)
    bool norms_after = false;    ///< their outputs are normalized before they are added to r (Gemma 2)
    /// The inputs of the output projection and of the last matrix of the feed-forward are normalized
    /// (BitNet).
    bool norms_inner = false;
    bool norms_embeddings = false;  ///< embeddings are normalized before the first layer (BLOOM)
    bool has_final_norm = true;
    bool norms_values = false;   ///< each head's values are normalized, without weights (Gemma 3n)
    bool gates_heads = false;    ///< heads' outputs are multiplied by sigmoid(W x) (Qwen3-Next)
    bool scales_layers = false;  ///< a layer's output is multiplied by a learned number (Gemma 4)
    QueryKeyNorms query_key_norms = QueryKeyNorms::none;
    bool query_key_norm_weights = true;  ///< the norms of queries and keys multiply by weights
    bool query_norm_weights = true;      ///< that of queries does so, too (all but DeepSeek V4)
    bool query_key_norm_biases = true;   ///< both norms, if layer norms, add biases (all but StableLM)
    /// Queries and keys are normalized after their rotation, not before (Hunyuan, Llama 4).
    bool norms_rotated = false;
    bool norms_unrotated_layers = true;  ///< normalized even where they do not rotate (all but Llama 4)
    bool parallel = false;               ///< r + attention(norm(r)) + feed_forward(norm′(r)) (GPT-NeoX)
    bool shares_norm = false;            ///< norm′ of a parallel block is norm itself (Phi, Cohere, GPT-J)
    Activation activation = Activation::silu;
    std::vector<Xielu> xielu = {};  ///< for each layer, if read from a GGUF file
    /// z for each layer: before the activation, gate(x) becomes max(gate(x) − μ − z·σ, 0) with the mean μ and
    /// the standard deviation σ of its elements; −∞: no cutoff. Empty: in no layer (all but Gemma 3n).
    std::vector<double> gate_cutoffs = {};
    bool gated = true;  ///< down(act(gate(x)) ⊙ up(x)), elementwise; otherwise down(act(up(x)))
    bool learned_positions = false;   ///< learned position embeddings are added to the embeddings (GPT-2)
    std::int64_t first_position = 0;  ///< row of that table for the first token (OPT: 2)
    double sinusoids = 0;             ///< base of the sinusoids added to the embeddings; 0: none
    /// Experts compute down((up(x) + 1) ⊙ g·sigmoid(α·g)), where α is `gate_steepness`, g is gate(x) limited
    /// to at most `gate_limit`, and up(x) is clipped to ±`gate_limit` (gpt-oss); 0: as `gated` says.
    double gate_limit = 0, gate_steepness = 1;
    /// In gated layers, gate(x) is limited to at most this number, and up(x) clipped to ± it, before the
    /// activation (DeepSeek V4); 0: no limit.
    double swiglu_limit = 0;
    ExpertMixture mixture = {};
    AlternatingUpdates altup = {};
    HyperConnections hyper = {};
    /// Rank of W_r W_l in the learned augmented residual x + norm(W_r W_l x), which is added to attention's
    /// output (LAuReL, arXiv 2411.07501); 0: none.
    std::int64_t laurel_rank = 0;
    LayerEmbeddings layer_embeddings = {};
    bool tied = false;  ///< the head shares its matrix with the embeddings

    // Features of encoders.
    bool causal = true;             ///< otherwise every query attends to all keys
    bool predicts_masked = false;   ///< logits are for the masked token at a position, not for the next one
    std::int64_t token_types = 0;   ///< number of segment embeddings; the first is added to all tokens
    bool norms_first_layer = true;  ///< attention of layer 0 reads norm(r), not r (all but ModernBERT)
    /// Activation, if the head reads norm(act(W r + b)); nullopt: it reads r.
    std::optional<Activation> head_activation = {};
    /// p: mask tokens are embedded as 0, and all embeddings are multiplied by (1 − p) / (1 − fraction of
    /// masked tokens) (ESM); 0: neither.
    double mask_dropout = 0;
    std::int64_t mask_token = 0;  ///< id of the mask token, for `mask_dropout`

    double embedding_scale = 1;  ///< multiplies embeddings (Gemma: √width)
    double residual_scale = 1;   ///< multiplies what attention and feed-forward add (Granite)
    double logit_scale = 1;      ///< multiplies logits, before they are capped (Cohere)
    double clip = 0;         ///< c: elements of q, k and v are clipped to −c … c (OLMo); 0: no clipping
    double score_scale = 0;  ///< multiplies q·k; 0 means 1/√head_dim
    /// β, L and m: the query at position n is multiplied by 1 + β·ln(1 + ⌊(n + m)/L⌋) (Llama 4, Ministral 3);
    /// β = 0: no growth.
    double query_growth = 0, query_growth_length = 1, query_growth_offset = 0;
    bool grows_rotated_layers = true;  ///< queries grow also in layers that rotate (all but Llama 4)
    /// Also divides scores by layer + 1, counted from 0 (GPT-2 as trained by Mistral).
    bool scores_by_layer = false;
    bool has_sinks = false;    ///< each head's softmax has one more, learned score, of a zero value (gpt-oss)
    double score_softcap = 0;  ///< c: scores become c·tanh(score/c) (Gemma 2); 0: none
    double logit_softcap = 0;  ///< the same for logits
    /// In windowed layers a query attends to itself, the window − 1 tokens before it, and as many after it if
    /// not `causal`.
    std::int64_t window = 0;     ///< tokens
    std::vector<bool> windowed;  ///< for each layer; empty: none
    /// In windowed layers the text is divided into chunks of `window` tokens, and a query attends to the
    /// tokens of its own chunk up to itself (Llama 4).
    bool chunked = false;

    /// Once a text that is being generated exceeds LongRoPE's original length, all its tokens are computed
    /// again with the long factors; otherwise the keys so far keep the short ones (all but Phi 3).
    bool recomputes_longer_texts = false;

    std::vector<RotaryConfig> rotations;
    std::vector<std::size_t> rotation_of_layer;  ///< for each layer, an index into `rotations`

    bool post_norm = false;  ///< norm(r + attention(r)), then norm(r + feed_forward(r)); no final norm
    /// For each head, a bias that is added to its scores; empty: no bias.
    std::vector<std::function<double(int distance)>> head_bias;
    /// The same, by the position of the key (Falcon).
    std::vector<std::function<double(int position)>> key_bias;

    // Mostly for models trained by this program.
    AttentionKind attention = AttentionKind::softmax;
    /// Rotations of values, by the same indices as `rotations`; empty: values do not rotate.
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
    /// Whether a token's residual is split into streams (one or more) that are joined at the end.
    bool hasStreams() const { return altup.isUsed() || hyper.isUsed(); }
    std::int64_t embeddingWidth() const { return embedding_width > 0 ? embedding_width : width; }
    /// Whether the layer has attention heads; otherwise another `Mixer`.
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

/// A note about models that attend to both sides without predicting masked tokens.
inline constexpr const char* kNoLossNote =
    "every token attends to both sides, including the next one, so its −ln p is not a language-model loss";

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
