#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/pretrained/architecture.h"
#include "core/pretrained/bias_rules.h"

namespace roper {

class ConfigFields;
class GgufEntries;

/// Names of the tensors in a file, without the ending ".weight" or ".bias" except for `sinks`. A tensor of a
/// layer has the name `layer`, in which "{}" stands for the layer's number, followed by one of the names
/// below. An empty name means that the family has no such tensor.
struct TensorNames {
    std::string embedding = {}, embedding_norm = {}, positions = {}, final_norm = {}, head = {};
    std::string embedding_in = {}, embedding_out = {};  ///< with `Architecture::embedding_width`
    std::string layer = {};                             ///< "model.layers.{}."
    std::string attention_norm = {}, query = {}, key = {}, value = {}, query_key_value = {}, output = {},
                query_norm = {}, key_norm = {}, after_attention_norm = {}, feed_forward_norm = {}, gate = {},
                gate_up = {}, up = {}, down = {}, after_feed_forward_norm = {}, sinks = {};
    /// Names of both norms in parallel blocks that have two, if other than above (Falcon).
    std::string attention_norm_of_two = {}, feed_forward_norm_of_two = {};
    std::string mixed_norm = {}, down_norm = {};  ///< with `Architecture::norms_inner`
    std::string query_down = {}, query_down_norm = {},
                output_down = {};  ///< with `Architecture::query_rank` and `output_rank`
    /// Of `HyperConnections`, without the endings fn, base and scale; the last stands outside the layers.
    std::string around_attention = {}, around_feed_forward = {}, streams_sum = {};
    std::string activation = {};  ///< parameters of the activation (Apertus)
};

/// Names of the tensors of multi-head latent attention, each preceded by `TensorNames::layer`.
struct LatentNames {
    std::string query_down = {}, query_norm = {}, query_up = {};
    std::string down = {};  ///< rows for the latent vector, then for the rotated features of keys
    std::string norm = {};
    std::string up = {};  ///< rows for each head: its n unrotated features of keys, then its v values
    /// Instead of `up`: keys, transposed, [heads, rank, n], and values [heads, v, rank].
    std::string keys = {}, values = {};
    /// Of `KeyIndexer`.
    std::string indexer_query = {}, indexer_key = {}, indexer_key_norm = {}, indexer_heads = {};
};

/// Names of the tensors of a gated delta rule, each preceded by `TensorNames::layer`; without ".weight",
/// unless a comment says that the ending is included.
struct GatedDeltaNames {
    std::string query_key_value = {}, gate = {}, beta = {}, decay = {};
    /// One tensor in place of the first two above, and one of the last two, with rows by key head.
    std::string query_key_value_gate = {}, beta_decay = {};
    std::string taps = {}, norm = {}, out = {};
    std::string decay_bias = {}, decay_log = {};  ///< endings included
    std::string decay_scale = {};                 ///< ending included; instead of `decay_log`: −exp of it
};

/// Names of the tensors of a short convolution, each preceded by `TensorNames::layer`, without ".weight".
struct ConvolutionNames {
    std::string in = {}, taps = {}, out = {};
};

/// Names of the tensors of encoders.
struct EncoderNames {
    std::string token_types = {};
    std::string head_dense = {}, head_norm = {};
    std::string head_bias = {};  ///< ending included; empty: the bias of `TensorNames::head`
    /// Ending of the names of tensors with θ of each pair, which the class uses instead of computing them.
    std::string frequencies = {};
    /// Name, ending included, of a table of sin and cos [positions, d], which must equal the computed one.
    std::string sinusoids = {};
};

/// Names of the tensors that only Gemma 3n and 4 have, without ".weight" unless a comment says that the
/// ending is included. Those of layers follow `TensorNames::layer`.
struct GemmaNames {
    std::string layer_table = {}, layer_projection = {}, layer_projection_norm = {};  ///< outside the layers
    std::string layer_gate = {}, layer_up = {}, layer_norm = {};
    /// Outside the layers; "{}" stands for the stream, not counting the first. In GGUF, one tensor holds all.
    std::string streams_in = {}, streams_out = {};
    std::string stream_router_norm = {}, stream_router = {}, predict = {}, correct = {};
    std::string active_scale = {};  ///< ending included
    std::string laurel_left = {}, laurel_right = {}, laurel_norm = {};
    std::string layer_scale = {};                       ///< ending included
    std::string router_scale = {}, expert_scales = {};  ///< endings included
    std::string before_experts = {}, after_experts = {}, after_dense = {};
};

/// Names of the tensors of a mixture, each preceded by `TensorNames::layer`. "{}" stands for the expert.
struct MixtureNames {
    std::string router = {};                               ///< without ".weight"
    std::string choice_bias = {}, other_choice_bias = {};  ///< endings included; alternatives
    std::string hash_table = {};                           ///< ending included
    std::string gate = {}, up = {}, down = {};             ///< of one expert each, without ".weight"
    /// Of all experts in one tensor [experts, out, in]; endings included.
    std::string all_gate = {}, all_up = {}, all_gate_up = {}, all_down = {};
    /// Their biases [experts, out]; endings included.
    std::string gate_bias = {}, up_bias = {}, gate_up_bias = {}, down_bias = {};
    std::string shared_gate = {}, shared_gate_up = {}, shared_up = {}, shared_down = {}, shared_switch = {};
};

/// All names of the tensors of a model.
struct ModelNames {
    TensorNames names = {};
    std::vector<MixtureNames> mixture_names = {};  ///< alternatives, as versions of transformers differ
    LatentNames latent_names = {};
    ConvolutionNames convolution_names = {};
    GatedDeltaNames delta_names = {};
    EncoderNames encoder_names = {};
    GemmaNames gemma_names = {};
};

/// The family of models trained here.
inline constexpr const char* kRoperFamily = "roper";

/// How the family's class in transformers decides about biases.
struct ConfigBiases {
    /// A flag of the config, and its default; a null key: none.
    struct Flag {
        const char* key = nullptr;
        bool default_value = false;
    };
    BiasRules plain;  ///< where no flag of the config decides
    Flag query_key_value = {}, output = {}, feed_forward = {}, head = {}, head_dense = {};
};

/// Which layers use sliding-window attention if the config does not list them.
enum class WindowedLayers {
    none,               ///< no window, whatever the config says
    all,                ///< all layers, and a list of the layers' kinds has no effect (Phi 3)
    all_unless_listed,  ///< all layers (Mistral, which AutoModel then calls Ministral)
    /// all except every n-th layer, counted from 1, which attends to all tokens (Gemma 2 and 3)
    all_but_every_nth,
    from_max_window_on,  ///< from layer `max_window_layers` on, by default 28 (Qwen)
    /// every second layer, counted from the first, before layer `max_window_layers` (Qwen 2 with experts)
    second_before_max_window,
    /// all except every n-th layer, counted from 0, for n `global_attn_every_n_layers` (ModernBERT)
    all_but_every_nth_from_first,
    listed,  ///< there is no default: the config must list them (SmolLM 3)
    chunked  ///< layers that rotate, in chunks of `attention_chunk_size` (Llama 4)
};

/// Which layers are mixtures of experts.
enum class MixtureLayers {
    all,
    /// every `decoder_sparse_step`-th, counted from 1, except those in `mlp_only_layers` (Qwen)
    by_sparse_step,
    /// "sparse" in `mlp_layer_types`, or all after the first `first_k_dense_replace` (EXAONE)
    listed_or_after_first_dense,
    after_first_dense,  ///< all after the first `first_k_dense_replace` (DeepSeek V3)
    /// every `moe_layer_interval`-th, counted from 1, from `moe_layer_start_index` to `moe_layer_end_index`
    by_interval,
    every_second,  ///< the first, the third, … (LongCat Flash, with two attentions a layer)
    /// those in `moe_layers`, or every `interleave_moe_layer_step`-th, counted from 1 (Llama 4)
    listed_or_by_step
};

/// What the family's class reads about mixtures of experts in a config.json.
struct MixtureRules {
    /// A whole number in the config: its key (null: not read), its default, and an alternative key.
    struct Count {
        const char* key = nullptr;
        std::int64_t default_value = 0;
        const char* other_key = nullptr;
    };
    const char* flag = nullptr;     ///< if false, the default, no layer is a mixture; null: always read
    bool may_lack_experts = false;  ///< no layer is a mixture if there are 0 experts (Llama 4)
    Count experts = {};             ///< null key: the family has no mixtures
    Count per_token = {};
    Count feed_forward = {};        ///< hidden width of an expert; null: intermediate_size
    Count dense_feed_forward = {};  ///< of layers that are not mixtures; null: intermediate_size
    /// The shared expert's width, or how many times as wide as an expert it is. These and `is_shared` exclude
    /// each other.
    Count shared_feed_forward = {}, shared_experts = {};
    bool is_shared = false;  ///< there is always a shared expert, as wide as an expert
    MixtureLayers layers = MixtureLayers::all;
    Count first_dense = {};  ///< for `after_first_dense`
    const char* normalizes_flag = nullptr;
    bool normalizes_usually = false;  ///< default of that flag
    Count groups = {nullptr, 1}, groups_per_token = {nullptr, 1};
    Count identity_experts = {};
    const char* scale_key = nullptr;  ///< `ExpertMixture::scale`; `Family::describe` sets the default
    /// Groups have an effect only if that member has the value `groups_method` (DeepSeek V2); null: always.
    const char *groups_method_key = nullptr, *groups_method = nullptr;
    /// `ExpertMixture::min_weight_sum` and `jitter_epsilon`; `Family::describe` sets the defaults.
    const char* min_weight_sum_key = nullptr;
    const char* jitter_epsilon_key = nullptr;
};

/// Default widths of multi-head latent attention, of which the last three are those of a head; rank 0: the
/// family does not have it.
struct LatentDefaults {
    std::int64_t rank = 0, query_rank = 0, unrotated = 0;
    std::int64_t values = 0;  ///< 0: the model's width divided by its heads
    std::int64_t rotated = 64;
};

/// Members that only the classes of encoders read; null: not read.
struct EncoderRules {
    const char* norm_bias_flag = nullptr;       ///< `Architecture::norm_biases`, false by default
    const char* embedding_norm_flag = nullptr;  ///< `Architecture::norms_embeddings`, false by default
    /// `Architecture::head_activation` and `token_types`; `Family::describe` sets the defaults.
    const char* head_activation_key = nullptr;
    const char* token_types_key = nullptr;
    const char* mask_dropout_flag = nullptr;    ///< if false, the default: no `Architecture::mask_dropout`
    const char* embedding_width_key = nullptr;  ///< other widths than the model's are refused
    /// A member that must have the value `required_text`; others are refused.
    const char *required_key = nullptr, *required_text = nullptr;
    std::vector<std::string> refused_flags = {};  ///< features that are not supported
};

/// Keys of sizes where they are not those of most configs: d_model for hidden_size; null: the usual key.
struct SizeNames {
    const char *width = nullptr, *layers = nullptr, *heads = nullptr, *feed_forward = nullptr,
               *context = nullptr;
    /// Attentions in a layer of the config, each of which is a layer in `Architecture` (LongCat Flash: 2).
    std::int64_t attentions_of_layer = 1;
    bool is_feed_forward_by_layer = false;  ///< the width of the feed-forward may be a list
};

/// What the family's class in transformers reads of a config.json, and its defaults. The class does not read
/// members whose key is null here.
struct ConfigRules {
    SizeNames sizes;
    /// Reads members that no other family has; null: none.
    void (*read)(const ConfigFields&, ParsedArchitecture&) = nullptr;
    /// The same for what depends on the windows and rotations of layers; called once these are known.
    void (*read_layers)(const ConfigFields&, Architecture&) = nullptr;
    std::int64_t context = 2048;  ///< default, tokens
    /// Default width of the feed-forward as a multiple of the model's; 0: none, the width is required.
    std::int64_t feed_forward_factor = 0;
    const char* activation_key = "hidden_act";   ///< `Family::describe` sets the default; null: not read
    bool gelu_means_tanh = false;                ///< "gelu" stands for its approximation by tanh (Gemma)
    bool tied = false;                           ///< default: the head shares its matrix with the embeddings
    const char* query_scalar_key = nullptr;      ///< s, 256 by default: scores are multiplied by 1/√s
    const char* scales_scores_flag = nullptr;    ///< if false, scores are not multiplied by 1/√d
    const char* scales_by_layer_flag = nullptr;  ///< if true, `Architecture::scores_by_layer`
    /// If this flag is true, or has the text `bidirectional_text`, every query attends to all keys, with half
    /// a window on either side; with a text, one token more on either side (Gemma 4).
    const char *bidirectional_flag = nullptr, *bidirectional_text = nullptr;
    const char* query_key_norms_flag = nullptr;  ///< if false, queries and keys are not normalized
    bool query_key_norms_usually = false;        ///< default of that flag
    /// If false, queries do not grow (`Architecture::query_growth`).
    const char* growth_flag = nullptr;
    const char *growth_key = nullptr, *growth_length_key = nullptr;  ///< of that growth
    double norm_epsilon = 0;                 ///< default; 0: 10⁻⁵ for layer norms, 10⁻⁶ for others
    const char* norm_epsilon_key = nullptr;  ///< null: any of the usual names

    /// A factor in the config: its key (null: not read) and its default.
    struct Factor {
        const char* key = nullptr;
        double default_value = 1;
    };
    Factor embedding_scale = {}, residual_scale = {}, score_scale = {}, logit_scale = {};
    Factor logit_divisor = {};  ///< divides logits instead
    /// `Architecture::residual_scale` is the first divided by √layers, and `logit_scale` the second divided
    /// by the width; null in a config leaves them unchanged (MiniCPM 3).
    Factor residual_depth_scale = {}, logit_width = {};
    const char* clip_key = nullptr;  ///< `Architecture::clip`, none by default

    WindowedLayers windowed = WindowedLayers::none;
    std::int64_t window = 4096;         ///< default, tokens; 0: none
    int window_pattern = 2;             ///< n of `all_but_every_nth`
    bool ends_unwindowed = false;       ///< the last layer attends to all tokens, whatever the config lists
    int max_window_layers = 28;         ///< default of the member of that name
    const char* window_flag = nullptr;  ///< if false, there is no window
    const char* window_key = "sliding_window";

    MixtureRules mixture = {};
    LatentDefaults latent = {};
    EncoderRules encoder = {};
    const char* gate_limit_key = nullptr;      ///< `Architecture::gate_limit`; `describe` sets the default
    const char* gate_steepness_key = nullptr;  ///< likewise

    ConfigBiases biases;
    std::vector<std::string> ignored = {};  ///< members of published configs that the class does not read
    const char* nested = nullptr;           ///< key of an object whose members must be known, too (MPT)
};

/// What llama.cpp's code defines for the family and a GGUF file does not contain.
struct GgufRules {
    /// Reads entries that no other family has; null: none.
    void (*read)(const GgufEntries&, Architecture&) = nullptr;
    /// The same for what depends on the windows and rotations of layers; called once these are known.
    void (*read_layers)(const GgufEntries&, Architecture&) = nullptr;
    /// Features 2i and 2i + 1 form a rotated pair, often because the converter reorders q and k (Llama).
    bool interleaves = false;
    bool requires_full_rotation = false;  ///< all features of a head must rotate
    bool has_frequency_factors = false;   ///< rope_freqs.weight may divide the frequencies (Llama 3)
    /// rope_freqs.weight divides the frequencies of full-attention layers alone, each by 1 or by 10³⁰, which
    /// stands for a pair that does not turn (Gemma 4).
    bool has_proportional_factors = false;
    bool has_long_factors = false;  ///< LongRoPE's factors need no rope.scaling.type (Phi 3)
    /// Default base of windowed layers, which are then not scaled (Gemma 3); nullopt: none.
    std::optional<double> windowed_base;
    /// feed_forward_length and attention.head_count_kv may differ between layers.
    bool has_sizes_by_layer = false;
    /// Heads of windowed layers have widths of their own: attention.key_length_swa, rope.dimension_count_swa.
    bool has_windowed_widths = false;
    bool has_exact_yarn = false;  ///< the ends of YaRN's ramp are not rounded to whole pairs (gpt-oss)
    bool scales_only_full_attention = false;  ///< only layers with full attention are scaled (OLMo 3)
    std::int64_t chunk = 0;  ///< tokens in a chunk, unless attention.sliding_window is 0; 0: no chunks
    /// Models with this many experts do not normalize queries and keys, although no entry says so (the larger
    /// Llama 4). 0: none.
    std::int64_t experts_without_norms = 0;
    std::int64_t unrotated_every_nth = 0;  ///< every n-th layer does not rotate (SmolLM 3); 0: all do
    bool rotates_only_windowed = false;    ///< if there is a window, other layers do not rotate (Cohere 2)

    std::int64_t window = 0;  ///< default, tokens; 0: none
    /// n: by default, all layers but every n-th are windowed; 0: all are. nullopt if neither files nor
    /// llama.cpp define the windows of the family.
    std::optional<std::int64_t> window_pattern;
    /// A model with this many layers multiplies scores by 1/√(width / heads) instead of 1/√d, although no
    /// entry says so. It is the 27 B model of Gemma, which llama.cpp also recognizes by its layers. 0: none.
    std::int64_t layers_scored_by_width = 0;

    /// attention.scale, embedding_scale, residual_scale and logit_scale are read, the last as a divisor
    /// (Granite).
    bool has_scales = false;
    bool has_logit_scale = false;  ///< logit_scale is read and multiplies (Cohere)
    /// Factors on embeddings, residual additions and logits are the defaults of `ConfigRules`, and no entry
    /// says so (MiniCPM 3).
    bool has_fixed_scales = false;
    bool has_clip = false;           ///< attention.clamp_kqv is read (OLMo)
    bool gate_and_up_fused = false;  ///< ffn_up holds the gate, then up (Phi 3)
    /// Names of norms; null: the usual ones.
    const char *attention_norm = nullptr, *feed_forward_norm = nullptr, *final_norm = nullptr;
    /// What layers compute for which attention.head_count_kv is 0.
    std::optional<Mixer> without_heads = {};
    /// Names of both norms in parallel blocks; a file without the first has one, by its usual name (Falcon).
    const char *attention_norm_of_two = nullptr, *feed_forward_norm_of_two = nullptr;
    const char* epsilon_key = nullptr;  ///< null: the usual one for the kind of norm
    /// The family of files with `expert_count`; null: this one (Mixtral, whose files name the architecture
    /// llama).
    const char* with_experts = nullptr;
    /// The family of files whose router scores are sigmoids; null: this one (DeepSeek V3, whose files
    /// name the architecture deepseek2).
    const char* with_sigmoid = nullptr;
    /// The family of files without `expert_count`; null: this one (Youtu, likewise).
    const char* without_experts = nullptr;
    bool has_dense_first = false;   ///< leading_dense_block_count is read
    bool has_mixture_step = false;  ///< interleave_moe_layer_step is read
    bool has_expert_width = false;  ///< expert_feed_forward_length is read
    bool has_shared_width = false;  ///< expert_shared_feed_forward_length is read
    bool has_shared_count = false;  ///< expert_shared_count is read
    /// expert_weights_norm is false by default; otherwise, `Family::describe` sets the default.
    bool expert_weights_norm_off_by_default = false;

    BiasRules biases;
    bool old_files_use_gpt2_pattern = false;  ///< files without tokenizer.ggml.pre split words like GPT-2
    /// Prefixes of tensors that are not read: those of an image encoder, or of other outputs.
    std::vector<std::string> unread_tensor_prefixes;
};

/// What the models of a family have in common; the base class holds the names of tensors in a Hugging Face
/// folder. To add a family, see families/list.h.
struct Family : ModelNames {
    const char* model_type = "";  ///< in config.json
    const char* gguf = "";        ///< general.architecture; empty if there is none
    /// The same for the family's embedding models, which attend to both sides; empty: it has none.
    const char* gguf_embedding = "";
    /// Sets what the config does not contain, and defaults of what it may contain.
    void (*describe)(Architecture&) = [](Architecture&) {};
    bool trained_here = false;  ///< models that this program trains; no config.json names this family
    bool rotates = true;        ///< otherwise positions enter by a table or a bias on scores

    // Keys with the same meaning in config.json and GGUF files, and their defaults.
    const char* parallel_flag = nullptr;  ///< of `Architecture::parallel`; null: not read
    bool parallel_by_default = true;      ///< default of that flag
    std::optional<double> score_cap;      ///< default of attn_logit_softcapping; nullopt: not read
    std::optional<double> logit_cap;      ///< default of final_logit_softcapping; nullopt: not read

    /// Queries grow with their position (`Architecture::query_growth`), by
    /// rope_parameters.llama_4_scaling_beta or attention.temperature_scale.
    bool queries_grow = false;

    /// Alternative sets of names; the first whose embedding table and key tensor a file contains is used.
    std::vector<TensorNames> other_names = {};
    /// all_gate_up and all_down are [experts, in, out]; rows of gate and up alternate.
    bool experts_transposed = false, experts_gate_up_interleaved = false;
    /// These are [experts, in, out] unless their shape is [experts, out, in] (Qwen 3 VL).
    bool experts_may_be_transposed = false;
    /// query_key_value holds the queries of key/value head 0, its k and v, then those of head 1, … (NeoX)
    bool interleaved_heads = false;
    /// query_key_value holds this many equal parts, each with rows of q, then of v, then of k (CodeGen); 0:
    /// the order is q, k, v.
    std::int64_t query_value_key_parts = 0;
    bool transposed = false;  ///< linear weights are [in, out] (GPT-2)
    /// Another name of the head, which transformers 5 uses unless it saves files in the old format; empty:
    /// none.
    const char* alternative_head = "";
    /// Endings of names of tables and masks that the class computes itself but old files contain.
    std::vector<std::string> recomputed_suffixes;
    /// Substrings of the names of multi-token prediction (MTP) tensors, which the class does not read.
    std::vector<std::string> mtp_name_parts;
    /// Substrings of the names of tensors that compute other outputs than logits, such as poolers.
    std::vector<std::string> other_output_name_parts = {};
    /// MTP layers, which follow the last layer, are not read. A GGUF file counts them as blocks and in
    /// nextn_predict_layers.
    bool has_mtp_layers = false;

    ConfigRules config_rules;
    GgufRules gguf_rules;
};

const std::vector<Family>& families();

/// The family of a model_type, or of a general.architecture; null if unknown.
const Family* findFamily(const std::string& model_type);
const Family* findGgufFamily(const std::string& architecture);

/// Names in GGUF files, the same for all families.
const ModelNames& ggufNames();

}  // namespace roper
