#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model_config/config_fields.h"

namespace roper {

/// Which layers of a model type rotate, where not all do.
enum class RotatingLayers {
    all,
    sliding,           ///< those with a window alone (Cohere 2)
    sliding_or_dense,  ///< the same, and dense layers at the beginning where all of them see all (Cohere 2
                       ///< MoE)
    sliding_if_any,    ///< the same, but all where no layer has one (EXAONE 4)
    listed,            ///< those that `no_rope_layers` marks with 1 (Llama 4, SmolLM 3)
};

/// How a model type of transformers reads its rotation from a config.json: what its class takes where the
/// config says nothing, and which members it reads.
struct ModelType {
    std::string name;
    bool interleaved = false;    ///< neighbouring features make a pair
    std::string interleave_key;  ///< member that says so; empty: none
    /// Members that say how many features a head has, the first that stands counts. Without one of them it is
    /// `wider`·hidden_size / num_attention_heads.
    std::vector<std::string> width_keys;
    int wider = 1;

    /// Of layers that rotate alike.
    struct Kind {
        std::string name;  ///< "full_attention"; empty where all layers are alike
        double theta = 10000;
        std::vector<std::string>
            theta_keys;    ///< members of the config that say it where rope_parameters do not
        int features = 0;  ///< of a head of such layers; 0: as in all
        std::vector<std::string> width_keys = {};  ///< members that say so
        bool is_scaled = true;                     ///< whether a flat rope_scaling is theirs
        /// The same as `theta_keys` where the config has rope_parameters; none: those.
        std::vector<std::string> given_theta_keys = {};
        std::optional<double> share = {};  ///< of a head that rotates where nothing says it; none: as in all
        /// Two members with what is taken without them: the head has as many features as the first is more,
        /// where no member of `width_keys` stands.
        std::vector<std::pair<std::string, int>> difference = {};
    };
    std::vector<Kind> kinds;
    bool is_nested = false;    ///< rope_parameters are by kind of layer
    bool needs_theta = false;  ///< and must say rope_theta themselves
    bool reads_flat = false;   ///< and may be flat all the same

    bool reads_share = true;  ///< whether a share of the head rotates, where frequencies are not scaled
    double share = 1;
    std::vector<std::string> share_keys;  ///< "partial_rotary_factor", "rotary_pct", "rotary_dim"
    std::optional<ConfigFields> rope;     ///< rope_parameters of a config without them
    bool theta_first = false;             ///< members of the config that say θ count before what these say
    bool share_first = false;             ///< the same of the share that rotates
    bool refuses_scaling = false;         ///< the class cannot read rope_scaling
    bool copies_flat = false;             ///< a flat object is that of every kind, and says no share (dots3)
    std::string beside_key;  ///< member that says how many features stand beside those that rotate,
                             ///< whose share is one of all of them (Mistral 4); empty: none
    int beside = 0;          ///< what is taken without it

    std::optional<ConfigFields> sizes;         ///< what is taken for members that are missing
    std::map<std::string, std::string> names;  ///< other names of members: hidden_size is "n_embd"
    std::vector<std::string> layers;  ///< kinds of the layers, a pattern that repeats; empty: not known
    std::string last_layer;           ///< kind of the last one, whatever the pattern says; empty: as it says
    bool forces_last = false;         ///< and whatever `layer_types` says
    /// Members that `per_layer_config` may say of the layers of a kind; empty: such models cannot have it
    /// about the rotation.
    std::vector<std::string> by_layer;
    std::vector<std::string> layer_types;  ///< names that `layer_types` may hold
    RotatingLayers rotating = RotatingLayers::all;

    std::string values;         ///< "rotated" or "rotated_back"; empty: values do not rotate
    bool rotates_last = false;  ///< the last features of a head, not the first
    std::string own;            ///< what such models do that cannot be shown
    std::string values_key;     ///< member that says so; empty: none
    std::string features_key;   ///< member that says how many features rotate, from the first
    int features = 0;           ///< that rotate, whatever the head's width; 0: not fixed
    std::string ratio_key;      ///< member that multiplies the base
    double yarn_factor = 0;  ///< that YaRN multiplies cos and sin by, whatever the config says; 0: as it says
    bool reads_alpha = false;    ///< dynamic scaling with `alpha` is NTK-aware scaling by that (Hunyuan)
    bool reads_mscales = false;  ///< LongRoPE's factors on cos and sin are short_mscale and long_mscale, and
                                 ///< its long_factor is not read (Phi-3.5 MoE)
    bool calls_yarn_longrope = false;  ///< the type yarn is LongRoPE (Phi-3)
    std::string needed_key;            ///< member without whose value nothing rotates
    std::string needed_value;          ///< as JSON
    bool rests_at_null = false;        ///< nothing rotates where rope_theta is null (Olmo Hybrid)
    std::string text_type;             ///< of a composite model: the model type of its language part

    bool is_known = true;
};

/// The model type of this name, in transformers 5.24; one that most models resemble where there is none.
const ModelType& modelTypeNamed(const std::string& name);

}  // namespace roper
