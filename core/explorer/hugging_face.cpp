#include "core/explorer/hugging_face.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/text.h"
#include "core/explorer/config_fields.h"
#include "core/explorer/model_defaults.h"

namespace roper {
namespace {

constexpr double kLongestText = 1e9;

/// What is known while a config is read.
struct Reader {
    ConfigFields config;
    ModelDefaults model;   ///< of its model_type
    double positions = 0;  ///< max_position_embeddings, 0 where missing
    std::vector<std::string>& notes;

    void note(std::string text) const {
        if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
    }
};

/// How layers of one kind rotate: their parameters, and what stands elsewhere in the config.
struct LayerSource {
    std::string name;                  ///< empty where all layers are alike
    std::optional<ConfigFields> rope;  ///< rope_parameters or rope_scaling of theirs
    std::optional<double> base;        ///< where it is not rope_theta
};

int headWidth(const Reader& reader) {
    const ConfigFields& config = reader.config;
    if (const auto given = config.firstWhole({"head_dim", "qk_rope_head_dim"}, 2, 1 << 16)) return *given;
    if (reader.model.head_dim > 0) return reader.model.head_dim;
    const auto width = config.firstWhole({"hidden_size", "n_embd"}, 2, 1 << 24);
    const auto heads =
        config.firstWhole({"num_attention_heads", "n_head", "decoder_num_attention_heads"}, 1, 1 << 16);
    if (!width || !heads)
        throw Error(ErrorKind::usage,
                    "the head's width is missing: head_dim, or hidden_size and num_attention_heads");
    if (*width % *heads != 0)
        throw Error(ErrorKind::usage, "hidden_size " + std::to_string(*width) +
                                          " is not divisible by num_attention_heads " +
                                          std::to_string(*heads));
    return *width / *heads;
}

/// The kind of scaling: "yarn"; empty where none is named.
std::string typeOf(const ConfigFields& rope) {
    const auto newer = rope.text("rope_type"), older = rope.text("type");
    return newer.value_or(older.value_or(""));
}

ScalingMethod methodOf(const Reader& reader, const ConfigFields& rope) {
    static const std::vector<std::pair<std::string, ScalingMethod>> kKnown = {
        {"default", ScalingMethod::none},
        {"linear", ScalingMethod::linear},
        {"dynamic", ScalingMethod::dynamic_ntk},
        {"yarn", ScalingMethod::yarn},
        {"llama3", ScalingMethod::llama3},
        {"longrope", ScalingMethod::longrope},
        {"proportional", ScalingMethod::p_rope},
        {"su", ScalingMethod::longrope}};  // as Phi-3 first called it
    const std::string type = typeOf(rope);
    if (type.empty()) return ScalingMethod::none;
    if (type == "mrope") {
        reader.note("mrope gives each part of the head positions of its own; for text they are all the same");
        return ScalingMethod::none;
    }
    std::vector<std::string> names;
    for (const auto& [name, method] : kKnown) {
        if (name == type) return method;
        names.push_back(name);
    }
    rope.refuse(rope.has("rope_type") ? "rope_type" : "type",
                "\"" + type + "\" is not known here; " + nameHint(type, names));
}

void readYarn(const ConfigFields& rope, Scaling& scaling) {
    scaling.beta_fast = rope.number("beta_fast", 0.001, 1e6).value_or(32);
    scaling.beta_slow = rope.number("beta_slow", 0.001, 1e6).value_or(1);
    if (scaling.beta_fast < scaling.beta_slow) rope.refuse("beta_fast", "must not be below beta_slow");
    const auto own = rope.number("attention_factor", 0, 100);
    const double scale = rope.number("mscale", 0, 100).value_or(0),
                 all = rope.number("mscale_all_dim", 0, 100).value_or(0);
    const double grown = 0.1 * std::log(scaling.factor);
    const bool by_scales = !own && scale > 0 && all > 0;
    scaling.attention_factor = by_scales ? (scale * grown + 1) / (all * grown + 1) : own.value_or(0);
    scaling.truncate = rope.flag("truncate").value_or(true);
}

void readLongRope(const ConfigFields& rope, const Setup& setup, Scaling& scaling) {
    scaling.attention_factor = rope.number("attention_factor", 0, 100).value_or(0);
    const auto pairs = static_cast<std::size_t>(rotatedWidth(setup.head_dim, setup.rotary_fraction) / 2);
    const auto factors = [&](const char* key) {
        const auto listed = rope.numbers(key, bounds::kSmallestFactor, bounds::kLargestFeature, 1 << 16);
        if (!listed) rope.refuse(key, "is missing: a list of " + std::to_string(pairs) + " numbers");
        if (listed->size() != pairs)
            rope.refuse(key, "has " + std::to_string(listed->size()) + " numbers; one for each of " +
                                 std::to_string(pairs) + " pairs is needed");
        ValueVector made;
        made = Eigen::Map<const Eigen::VectorXd>(listed->data(), static_cast<Eigen::Index>(listed->size()));
        return made;
    };
    scaling.short_factors = factors("short_factor");
    scaling.long_factors = factors("long_factor");
}

void readLlama3(const ConfigFields& rope, Scaling& scaling) {
    scaling.low_frequency_factor = rope.number("low_freq_factor", 0.001, 1e6).value_or(1);
    scaling.high_frequency_factor = rope.number("high_freq_factor", 0.001, 1e6).value_or(4);
    if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
        rope.refuse("high_freq_factor", "must be above low_freq_factor");
}

/// Positions seen in training: the model's, then those of the rotation, then as many as it can read at all.
double trainedLength(const Reader& reader, const ConfigFields& rope, const Setup& setup) {
    const char* key = "original_max_position_embeddings";
    const auto of_model = reader.config.number(key, 1, kLongestText), own = rope.number(key, 1, kLongestText);
    return std::min(of_model.value_or(own.value_or(setup.context_length)), bounds::kLongestContext);
}

double factorOf(const Reader& reader, const ConfigFields& rope, const Scaling& scaling) {
    if (const auto factor = rope.number("factor", 1, bounds::kLargestFactor)) return *factor;
    const bool follows = scaling.method == ScalingMethod::longrope || scaling.method == ScalingMethod::yarn;
    const bool says_trained =
        reader.config.has("original_max_position_embeddings") || rope.has("original_max_position_embeddings");
    if (!follows || !says_trained || reader.positions == 0) rope.refuse("factor", "is missing");
    return std::clamp(reader.positions / scaling.original_length, 1.0, bounds::kLargestFactor);
}

void readScaling(const Reader& reader, const ConfigFields& rope, Setup& setup) {
    Scaling& scaling = setup.scaling;
    scaling.method = methodOf(reader, rope);
    if (scaling.method == ScalingMethod::none) return;
    if (scaling.method == ScalingMethod::p_rope) {
        scaling.proportion = rope.number("partial_rotary_factor", 0, 1).value_or(1);
        scaling.proportion_factor = rope.number("factor", 1, bounds::kLargestFactor).value_or(1);
        return;
    }
    if (scaling.method == ScalingMethod::dynamic_ntk) {
        if (const auto alpha = rope.number("alpha", 1, bounds::kLargestFactor)) {
            reader.note("alpha makes the base larger whatever the length of the text: NTK-aware scaling");
            scaling.method = ScalingMethod::ntk;
            scaling.factor = *alpha;
            return;
        }
        reader.note(
            "dynamic scaling changes nothing up to the trained length; raise the text length L′ to see it");
    } else {
        // The dynamic method takes max_position_embeddings for the trained length.
        scaling.original_length = trainedLength(reader, rope, setup);
    }
    scaling.factor = factorOf(reader, rope, scaling);
    if (scaling.method == ScalingMethod::yarn) readYarn(rope, scaling);
    if (scaling.method == ScalingMethod::longrope) readLongRope(rope, setup, scaling);
    if (scaling.method == ScalingMethod::llama3) readLlama3(rope, scaling);
}

void readBase(const Reader& reader, const LayerSource& layer, Setup& setup) {
    const auto base = [](const ConfigFields& fields) {
        return fields.firstNumber({"rope_theta", "rotary_emb_base", "global_rope_theta"}, bounds::kLeastBase,
                                  bounds::kMostBase);
    };
    const auto own = layer.rope ? base(*layer.rope) : std::nullopt, of_model = base(reader.config);
    if (layer.base || own || of_model) {
        setup.base = layer.base ? *layer.base : own ? *own : *of_model;
        return;
    }
    setup.base = reader.model.base;
    bool names_any = layer.rope.has_value() || reader.model.model_type[0] != '\0';
    for (const char* key : {"rotary_pct", "rotary_dim", "partial_rotary_factor"})
        names_any = names_any || reader.config.has(key);
    reader.note(names_any ? "rope_theta is missing; " + formatNumber(setup.base) + " is taken"
                          : "the config names no rotary field; what is shown is RoPE with base 10000, if the "
                            "model has it at all");
}

void readFraction(const Reader& reader, const LayerSource& layer, Setup& setup) {
    const ConfigFields& config = reader.config;
    const auto share = [](const ConfigFields& fields) {
        return fields.firstNumber({"partial_rotary_factor", "rotary_pct"}, 0, 1);
    };
    setup.rotary_fraction = 1.0;
    // p-RoPE has another meaning for this name; a width of the rotating part alone is all of it.
    const bool is_proportional = layer.rope && typeOf(*layer.rope) == "proportional";
    if (is_proportional || (!config.has("head_dim") && config.has("qk_rope_head_dim"))) return;
    if (const auto inner = layer.rope ? share(*layer.rope) : std::nullopt) {
        setup.rotary_fraction = *inner;
    } else if (const auto outer = share(config)) {
        setup.rotary_fraction = *outer;
    } else if (const auto width = config.whole("rotary_dim", 0, setup.head_dim)) {
        setup.rotary_fraction = static_cast<double>(*width) / setup.head_dim;
    } else {
        setup.rotary_fraction = reader.model.rotary_fraction;
        if (setup.rotary_fraction != 1)
            reader.note("partial_rotary_factor is missing; " + formatNumber(setup.rotary_fraction) +
                        " is taken, as models of type " + reader.model.model_type + " do");
    }
}

/// rope_parameters by kind of layer: {"full_attention": {…}, "sliding_attention": {…}}, the former first.
std::vector<LayerSource> nestedLayers(const ConfigFields& parameters) {
    if (parameters.has("rope_type") || parameters.has("type")) return {};
    std::vector<LayerSource> layers;
    for (const std::string& key : parameters.keysOfObjects())
        layers.push_back({key, parameters.object(key), std::nullopt});
    std::stable_partition(layers.begin(), layers.end(),
                          [](const LayerSource& layer) { return layer.name == "full_attention"; });
    return layers;
}

std::vector<LayerSource> layersOf(const Reader& reader) {
    const ConfigFields& config = reader.config;
    std::optional<ConfigFields> rope = config.object("rope_parameters");
    const std::optional<ConfigFields> older = config.object("rope_scaling");
    if (rope && older)
        reader.note("rope_parameters and rope_scaling both stand; the newer rope_parameters count");
    if (!rope) rope = older;
    if (rope) {
        std::vector<LayerSource> nested = nestedLayers(*rope);
        if (nested.size() == 1) nested.front().name.clear();
        if (!nested.empty()) return nested;
    }
    // Local layers have a base of their own and are never scaled.
    const auto local = config.firstNumber({"rope_local_base_freq", "local_rope_theta"}, bounds::kLeastBase,
                                          bounds::kMostBase);
    if (!local && reader.model.local_base == 0) return {{"", rope, std::nullopt}};
    const bool same = !local && reader.model.local_base == reader.model.base;
    return {{"full_attention", rope, std::nullopt},
            {"sliding_attention", std::nullopt,
             same ? std::optional<double>() : local.value_or(reader.model.local_base)}};
}

Setup readLayer(const Reader& reader, const LayerSource& layer, Setup setup) {
    setup.scaling = scalingToBeginWith();
    setup.scaling.original_length = setup.context_length;
    readFraction(reader, layer, setup);
    if (layer.rope) readScaling(reader, *layer.rope, setup);
    readBase(reader, layer, setup);
    return sanitized(setup);
}

/// Members of the rotation, and members of the model whose names say that they are about it.
void nameWhatIsNotUnderstood(const Reader& reader, const std::vector<LayerSource>& layers) {
    std::vector<std::string> named;
    for (const LayerSource& layer : layers)
        if (layer.rope)
            for (const std::string& member : layer.rope->unread())
                named.push_back(member);
    for (const std::string& member : reader.config.unread()) {
        const std::string key = member.substr(0, member.find(' '));
        for (const char* part : {"rope", "rotary", "alibi", "position_embedding"})
            if (key.find(part) != std::string::npos) {
                named.push_back(member);
                break;
            }
    }
    constexpr std::size_t kMostNamed = 20;
    const std::size_t left_out = named.size() - std::min(named.size(), kMostNamed);
    named.resize(named.size() - left_out);
    if (left_out > 0) named.push_back(std::to_string(left_out) + " more");
    if (!named.empty()) reader.note("not understood, and not shown: " + join(named, ", "));
}

}  // namespace

ConfigReading readHuggingFaceConfig(std::string_view text, Setup setup) {
    ConfigReading reading;
    ConfigFields config = ConfigFields::parse(text);
    if (const auto inner = config.object("text_config")) {
        config = *inner;
        reading.notes.emplace_back("text_config is read: the language part of the model");
    }
    Reader reader{config, modelDefaults(config.text("model_type").value_or("")), 0, reading.notes};
    setup.head_dim = headWidth(reader);
    if (setup.head_dim % 2 != 0 || setup.head_dim > bounds::kMostHeadDim)
        throw Error(ErrorKind::usage, "heads of " + std::to_string(setup.head_dim) +
                                          " features cannot be shown; even widths up to " +
                                          std::to_string(bounds::kMostHeadDim) + " can");
    setup.frequency_formula = FrequencyFormula::standard;
    setup.pairing = config.flag("rope_interleave").value_or(reader.model.interleaved) ? Pairing::interleaved
                                                                                      : Pairing::half;
    reader.positions =
        config.firstNumber({"max_position_embeddings", "n_positions"}, 1, kLongestText).value_or(0);
    if (reader.positions > 0) setup.context_length = std::min(reader.positions, bounds::kLongestContext);
    setup.x = Eigen::VectorXd();
    setup.y = Eigen::VectorXd();
    const std::vector<LayerSource> layers = layersOf(reader);
    std::vector<std::string> names;
    for (const LayerSource& layer : layers) {
        reading.kinds.push_back({layer.name, readLayer(reader, layer, setup)});
        names.push_back(layer.name);
    }
    nameWhatIsNotUnderstood(reader, layers);
    reading.setup = reading.kinds.front().setup;
    if (layers.size() == 1)
        reading.kinds.clear();
    else
        reader.note("layers differ in kind (" + join(names, ", ") + "); " + names.front() + " is shown");
    return reading;
}

}  // namespace roper
