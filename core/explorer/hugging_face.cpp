#include "core/explorer/hugging_face.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorKind::usage, message);
}

/// One JSON object, of bounded depth, no key twice: the library would silently keep the last.
Json parseConfig(std::string_view text) {
    constexpr std::size_t kLongest = 1 << 20;
    constexpr int kDeepest = 32;
    if (text.size() > kLongest) fail("this is too long for a config.json");
    if (trimmed(text).empty()) fail("there is nothing to read; paste the text of a model's config.json");
    std::vector<std::set<std::string>> keys;
    const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > kDeepest) fail("the config is nested too deeply");
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            fail("\"" + value.get<std::string>() + "\" stands twice in one object");
        return true;
    };
    Json json;
    try {
        json = Json::parse(text, check);
    } catch (const Json::exception& error) {
        fail("this is not JSON: " + jsonProblem(error.what()));
    }
    if (!json.is_object()) fail("a config.json is one JSON object, { … }");
    return json;
}

/// Reads members of one object, `where` names it in messages.
class Fields {
  public:
    Fields(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

    bool has(const char* key) const { return object_->contains(key) && !object_->at(key).is_null(); }
    const Json& at(const char* key) const { return object_->at(key); }
    std::string name(const char* key) const { return where_.empty() ? key : where_ + "." + key; }

    std::optional<double> number(const char* key, double low, double high) const {
        if (!has(key)) return std::nullopt;
        const Json& value = at(key);
        if (!value.is_number()) fail(name(key) + " must be a number, not " + value.dump().substr(0, 60));
        const double read = value.get<double>();
        if (!(read >= low && read <= high))
            fail(name(key) + " must lie between " + formatNumber(low) + " and " + formatNumber(high) +
                 ", not " + formatNumber(read));
        return read;
    }
    std::optional<int> whole(const char* key, int low, int high) const {
        const auto read = number(key, low, high);
        if (read && *read != std::floor(*read))
            fail(name(key) + " must be whole, not " + formatNumber(*read));
        return read ? std::optional(static_cast<int>(*read)) : std::nullopt;
    }
    std::string text(const char* key) const {
        if (!has(key)) return {};
        if (!at(key).is_string()) fail(name(key) + " must be text, not " + at(key).dump().substr(0, 60));
        return at(key).get<std::string>();
    }
    std::optional<Fields> object(const char* key) const {
        if (!has(key)) return std::nullopt;
        if (!at(key).is_object()) fail(name(key) + " must be an object, not " + at(key).dump().substr(0, 60));
        return Fields(at(key), name(key));
    }
    const Json& json() const { return *object_; }

  private:
    const Json* object_;
    std::string where_;
};

/// The first of several spellings that is there.
template <class Read>
auto firstOf(Read read, std::initializer_list<const char*> keys) -> decltype(read("")) {
    for (const char* key : keys)
        if (auto value = read(key)) return value;
    return {};
}

int headWidth(const Fields& config) {
    if (const auto given = firstOf([&](const char* k) { return config.whole(k, 2, 1 << 16); },
                                   {"head_dim", "qk_rope_head_dim"}))
        return *given;
    const auto width =
        firstOf([&](const char* k) { return config.whole(k, 2, 1 << 24); }, {"hidden_size", "n_embd"});
    const auto heads = firstOf([&](const char* k) { return config.whole(k, 1, 1 << 16); },
                               {"num_attention_heads", "n_head"});
    if (!width || !heads)
        fail("the head's width is missing: head_dim, or hidden_size and num_attention_heads");
    if (*width % *heads != 0)
        fail("hidden_size " + std::to_string(*width) + " is not divisible by num_attention_heads " +
             std::to_string(*heads));
    return *width / *heads;
}

/// rope_parameters nested by kind of layer, such as {"full_attention": {…}, "sliding_attention": {…}}.
Fields flattened(const Fields& parameters, std::vector<std::string>& notes) {
    if (parameters.has("rope_type") || parameters.has("type")) return parameters;
    std::vector<std::string> kinds;
    std::size_t chosen = 0;
    std::vector<const Json*> objects;  // by reference: a key may hold any character, NUL among them
    for (const auto& [key, value] : parameters.json().items()) {
        if (!value.is_object()) continue;
        if (key == "full_attention") chosen = kinds.size();
        kinds.push_back(key);
        objects.push_back(&value);
    }
    if (kinds.empty()) return parameters;
    notes.push_back("rope_parameters differ by kind of layer (" + join(kinds, ", ") + "); " + kinds[chosen] +
                    " is shown");
    return {*objects[chosen], parameters.name(kinds[chosen].c_str())};
}

ScalingMethod methodOf(const Fields& rope, std::vector<std::string>& notes) {
    static const std::vector<std::pair<std::string, ScalingMethod>> kKnown = {
        {"default", ScalingMethod::none},        {"linear", ScalingMethod::linear},
        {"dynamic", ScalingMethod::dynamic_ntk}, {"yarn", ScalingMethod::yarn},
        {"llama3", ScalingMethod::llama3},       {"proportional", ScalingMethod::p_rope}};
    const std::string type = rope.has("rope_type") ? rope.text("rope_type") : rope.text("type");
    if (type.empty()) return ScalingMethod::none;
    if (type == "mrope") {
        notes.emplace_back(
            "mrope gives each part of the head positions of its own; for text they are all the same");
        return ScalingMethod::none;
    }
    std::vector<std::string> names;
    for (const auto& [name, method] : kKnown) {
        if (name == type) return method;
        names.push_back(name);
    }
    const auto nearest = nearestName(type, names);
    fail(rope.name("rope_type") + " \"" + type + "\" is not known here; " +
         (nearest ? "did you mean \"" + *nearest + "\"?" : "known are " + join(names, ", ")));
}

void readYarn(const Fields& rope, Scaling& scaling) {
    scaling.beta_fast = rope.number("beta_fast", 0.001, 1e6).value_or(32);
    scaling.beta_slow = rope.number("beta_slow", 0.001, 1e6).value_or(1);
    if (scaling.beta_fast < scaling.beta_slow) fail(rope.name("beta_fast") + " must not be below beta_slow");
    scaling.attention_factor = rope.number("attention_factor", 0, 100).value_or(0);
    const double scale = rope.number("mscale", 0, 100).value_or(0),
                 all = rope.number("mscale_all_dim", 0, 100).value_or(0);
    if (scaling.attention_factor == 0 && scale > 0 && all > 0)
        scaling.attention_factor =
            (0.1 * scale * std::log(scaling.factor) + 1) / (0.1 * all * std::log(scaling.factor) + 1);
    if (!rope.has("truncate")) return;
    if (!rope.at("truncate").is_boolean()) fail(rope.name("truncate") + " must be true or false");
    scaling.truncate = rope.at("truncate").get<bool>();
}

/// @param config  the whole model's; the trained length may stand there
void readScaling(const Fields& rope, const Fields& config, Setup& setup, std::vector<std::string>& notes) {
    Scaling& scaling = setup.scaling;
    scaling.method = methodOf(rope, notes);
    if (scaling.method == ScalingMethod::p_rope) {
        scaling.proportion = rope.number("partial_rotary_factor", 0, 1).value_or(1);
        return;
    }
    if (scaling.method == ScalingMethod::none) return;
    const auto length = [](const Fields& fields) {
        return fields.number("original_max_position_embeddings", 1, bounds::kLongestContext);
    };
    const auto trained = length(config) ? length(config) : length(rope);
    // The dynamic method takes max_position_embeddings for the trained length.
    if (trained && scaling.method != ScalingMethod::dynamic_ntk) scaling.original_length = *trained;
    if (scaling.method == ScalingMethod::dynamic_ntk)
        notes.emplace_back(
            "dynamic scaling changes nothing up to the trained length; raise the text length L′ to see it");
    auto factor = rope.number("factor", 1, bounds::kLargestFactor);
    if (!factor && scaling.method == ScalingMethod::yarn && trained)
        factor = std::max(1.0, setup.context_length / *trained);
    if (!factor) fail(rope.name("factor") + " is missing");
    scaling.factor = *factor;
    if (scaling.method == ScalingMethod::yarn) readYarn(rope, scaling);
    if (scaling.method != ScalingMethod::llama3) return;
    scaling.low_frequency_factor = rope.number("low_freq_factor", 0.001, 1e6).value_or(1);
    scaling.high_frequency_factor = rope.number("high_freq_factor", 0.001, 1e6).value_or(4);
    if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
        fail(rope.name("high_freq_factor") + " must be above low_freq_factor");
}

/// Which models pair neighbouring features is part of their code, not of their config.
Pairing pairingOf(const Fields& config) {
    static const std::set<std::string> kInterleaved = {"gptj", "codegen", "cohere",      "cohere2",
                                                       "glm",  "glm4",    "llama4_text", "ernie4_5"};
    const bool says_so = config.has("rope_interleave") && config.at("rope_interleave") == true;
    return says_so || kInterleaved.count(config.text("model_type")) > 0 ? Pairing::interleaved
                                                                        : Pairing::half;
}

void readBase(const Fields& config, const Fields& rope, Setup& setup, std::vector<std::string>& notes) {
    const auto base = [](const Fields& fields) {
        return firstOf([&](const char* k) { return fields.number(k, bounds::kLeastBase, bounds::kMostBase); },
                       {"rope_theta", "rotary_emb_base"});
    };
    const auto given = base(rope) ? base(rope) : base(config);
    setup.base = given.value_or(10000.0);
    if (given) return;
    bool names_any = setup.scaling.method != ScalingMethod::none;
    for (const char* key :
         {"rotary_pct", "rotary_dim", "partial_rotary_factor", "rope_scaling", "rope_parameters"})
        names_any = names_any || config.has(key);
    notes.emplace_back(
        names_any ? "rope_theta is missing; 10000 is taken"
                  : "the config names no rotary field; what is shown is RoPE with base 10000, if the "
                    "model has it at all");
}

void readFraction(const Fields& config, const Fields& rope, Setup& setup) {
    const auto share = [&](const Fields& fields) {
        return firstOf([&](const char* k) { return fields.number(k, 0, 1); },
                       {"partial_rotary_factor", "rotary_pct"});
    };
    setup.rotary_fraction = 1.0;
    if (setup.scaling.method == ScalingMethod::p_rope) return;  // there the same name means its proportion
    if (const auto inner = share(rope)) {
        setup.rotary_fraction = *inner;
    } else if (const auto outer = share(config)) {
        setup.rotary_fraction = *outer;
    } else if (const auto width = config.whole("rotary_dim", 0, setup.head_dim)) {
        setup.rotary_fraction = static_cast<double>(*width) / setup.head_dim;
    }
}

}  // namespace

ConfigReading readHuggingFaceConfig(std::string_view text, Setup setup) {
    const Json json = parseConfig(text);
    ConfigReading reading;
    Fields config(json, "");
    if (const auto inner = config.object("text_config")) {
        config = *inner;
        reading.notes.emplace_back("text_config is read: the language part of the model");
    }
    setup.head_dim = headWidth(config);
    if (setup.head_dim % 2 != 0 || setup.head_dim > bounds::kMostHeadDim)
        fail("heads of " + std::to_string(setup.head_dim) + " features cannot be shown; even widths up to " +
             std::to_string(bounds::kMostHeadDim) + " can");
    setup.frequency_formula = FrequencyFormula::standard;
    setup.pairing = pairingOf(config);
    const auto position_limit = firstOf([&](const char* k) { return config.number(k, 1, 1e9); },
                                        {"max_position_embeddings", "n_positions"});
    if (position_limit) setup.context_length = std::min(*position_limit, bounds::kLongestContext);
    setup.scaling = Scaling{};
    setup.scaling.original_length = setup.context_length;
    std::optional<Fields> rope = config.object("rope_parameters");
    if (rope && config.object("rope_scaling"))
        reading.notes.emplace_back(
            "rope_parameters and rope_scaling both stand; the newer rope_parameters count");
    if (!rope) rope = config.object("rope_scaling");
    const Fields parameters = rope ? flattened(*rope, reading.notes) : config;
    if (rope) readScaling(parameters, config, setup, reading.notes);
    readBase(config, parameters, setup, reading.notes);
    readFraction(config, parameters, setup);
    setup.x = Eigen::VectorXd();
    setup.y = Eigen::VectorXd();
    reading.setup = sanitized(setup);
    return reading;
}

}  // namespace roper
