#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model_config/config_fields.h"

namespace roper {

/// Which layers of a model type rotate, if not all do.
enum class RotatingLayers {
    all,
    sliding,  ///< only layers with sliding-window attention (Cohere 2)
    /// The same, and the dense layers at the beginning if all of them use global attention (Cohere 2 MoE).
    sliding_or_dense,
    sliding_if_window,  ///< the same, but all layers if sliding_window is null (EXAONE 4)
    listed,             ///< those marked 1 in `no_rope_layers` (Llama 4, SmolLM 3)
};

/// How a model type of Hugging Face's transformers reads its rotation from config.json: the members that its
/// Python class reads, and their defaults.
struct ModelType {
    std::string name;
    bool interleaved = false;    ///< features 2i and 2i + 1 form a rotated pair
    std::string interleave_key;  ///< member that overrides this flag; empty: none
    /// Members with the width of a head; the first that exists counts. The default is
    /// `head_width_factor`·hidden_size / num_attention_heads.
    std::vector<std::string> width_keys;
    int head_width_factor = 1;

    /// A group of layers that rotate alike.
    struct Kind {
        std::string name;                     ///< such as "full_attention"; empty if all layers are alike
        double theta = 10000;                 ///< default base
        std::vector<std::string> theta_keys;  ///< members with the base, if rope_parameters lack it
        int features = 0;  ///< default width of a head in these layers; 0: as in all others
        std::vector<std::string> width_keys = {};  ///< members with that width
        bool is_scaled = true;                     ///< a rope_scaling not nested by kind applies to them
        /// Replaces `theta_keys` if the config has rope_parameters; empty: nothing does.
        std::vector<std::string> theta_keys_with_rope_parameters = {};
        /// Default fraction of a head that rotates; nullopt: as in all others.
        std::optional<double> rotary_fraction = {};
        /// Two members with their defaults: the width of a head is the first minus the second, if no member
        /// of `width_keys` exists.
        std::vector<std::pair<std::string, int>> width_difference = {};
    };
    std::vector<Kind> kinds;
    bool is_nested = false;                ///< rope_parameters hold an object for each kind of layer
    bool needs_theta = false;              ///< nested parameters must contain rope_theta
    bool accepts_flat_parameters = false;  ///< flat parameters are accepted, though ignored

    /// Whether only a fraction of a head may rotate when frequencies are not scaled.
    bool reads_rotary_fraction = true;
    double rotary_fraction = 1;                     ///< default of that fraction
    std::vector<std::string> rotary_fraction_keys;  ///< "partial_rotary_factor", "rotary_pct", "rotary_dim"
    std::optional<ConfigFields> rope;               ///< default of rope_parameters
    /// Members of the config with the base take precedence over the default rope_parameters.
    bool theta_keys_take_precedence = false;
    bool rotary_fraction_keys_take_precedence = false;  ///< the same for the rotating fraction
    bool refuses_scaling = false;                       ///< the class cannot read rope_scaling
    bool is_fixed = false;     ///< the class reads neither rope_parameters nor rope_scaling (GPT-J)
    bool copies_flat = false;  ///< flat parameters apply to every kind, without a rotating fraction (dots3)
    /// Member with the number of a head's unrotated features, if that is not part of its width; the rotating
    /// fraction then refers to both together (Mistral 4); empty: none.
    std::string unrotated_features_key;
    int unrotated_features = 0;  ///< default of that member

    std::optional<ConfigFields> sizes;         ///< default sizes, for missing members
    std::map<std::string, std::string> names;  ///< other names of members: hidden_size is "n_embd"
    /// Kinds of the layers, as a repeating pattern; empty: unknown; {""}: no layer rotates.
    std::vector<std::string> layers;
    std::string last_layer;    ///< kind of the last layer, overriding the pattern; empty: as in the pattern
    bool forces_last = false;  ///< `last_layer` overrides the config's layer_types, too
    /// Members that `per_layer_config` may set for the layers of a kind; empty: it may not change the
    /// rotation.
    std::vector<std::string> per_layer_keys;
    std::vector<std::string> layer_types;  ///< accepted values in `layer_types`
    RotatingLayers rotating = RotatingLayers::all;
    bool reads_pattern = false;  ///< sliding_window_pattern replaces `layers`

    std::string values;  ///< "rotated" or "rotated_back" (`ValueRotation`); empty: values do not rotate
    bool has_shared_key_value = false;  ///< one vector is key and value for all heads
    bool rotates_last = false;          ///< the last features of a head rotate, not the first
    std::string values_key;             ///< flag that enables the rotation of values; empty: none
    std::string features_key;           ///< member with the number of rotating features; empty: none
    int features = 0;  ///< number of rotating features regardless of the head's width; 0: not fixed
    bool requires_even_features = false;  ///< the class cannot rotate an odd number of features (Phi)
    std::string ratio_key;                ///< member by which the base is multiplied; empty: none
    /// Flat rope_parameters are read as rope_scaling; base and rotating fraction are then the config's.
    bool flat_means_scaling = false;
    double yarn_factor = 0;    ///< YaRN's default attention_factor if parameters are flat; 0: computed
    bool reads_alpha = false;  ///< dynamic scaling with `alpha` means NTK-aware scaling by alpha (Hunyuan)
    /// LongRoPE's factors on cos and sin are short_mscale and long_mscale, and long_factor is not read
    /// (Phi-3.5 MoE).
    bool reads_mscales = false;
    bool yarn_means_longrope = false;  ///< the type "yarn" means LongRoPE (Phi-3)
    std::string required_key;    ///< nothing rotates unless this member has `required_value`; empty: none
    std::string required_value;  ///< as JSON
    bool null_theta_means_unrotated = false;  ///< nothing rotates if rope_theta is null (Olmo Hybrid)
    std::string language_model_type;          ///< for composite models: the model type of the language part

    bool is_known = true;  ///< false: transformers has no such type
};

/// The model type of this name in transformers 5.24; for an unknown name, one that reads what most do.
const ModelType& findModelType(const std::string& name);

/// rope_parameters or rope_scaling of a config, or the default of its class if it has neither; nullopt: none.
std::optional<ConfigFields> ropeParametersOf(const ConfigFields& config, const ModelType& type);

}  // namespace roper
