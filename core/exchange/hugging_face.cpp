#include "core/exchange/hugging_face.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/runs/error.h"
#include "core/runs/text.h"

namespace roper {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& message) {
    throw Error(ErrorKind::usage, message);
}

/// One JSON object, of bounded depth, no key twice: the library would silently keep the last.
Json parseConfig(std::string_view text) {
    constexpr std::size_t kLongest = 1 << 20;
    constexpr std::size_t kDeepest = 32;
    if (text.size() > kLongest) fail("this is too long for a config.json");
    if (trimmed(text).empty()) fail("there is nothing to read; paste the text of a model's config.json");
    std::vector<std::set<std::string>> keys;
    const auto check = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (keys.size() > kDeepest) fail("the config is nested too deeply");
        if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            fail("\"" + value.get<std::string>() + "\" stands twice in one object");
        return true;
    };
    Json json;
    try {
        json = Json::parse(text, check);
    } catch (const Json::exception& error) {
        fail(std::string("this is not JSON: ") + error.what());
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
    const char* chosen = nullptr;
    std::vector<std::string> kinds;
    for (const auto& [key, value] : parameters.json().items()) {
        if (!value.is_object()) continue;
        kinds.push_back(key);
        if (chosen == nullptr || key == "full_attention")
            chosen = key == "full_attention" ? "full_attention" : key.c_str();
    }
    if (kinds.empty()) return parameters;
    const std::string name = chosen;
    notes.push_back("rope_parameters differ by kind of layer (" + join(kinds, ", ") + "); " + name +
                    " is shown");
    return *parameters.object(name.c_str());
}

void readMethod(const Fields& rope, Setup& setup, std::vector<std::string>& notes) {
    static const std::vector<std::string> kKnown = {"default", "linear", "dynamic", "yarn", "llama3"};
    Scaling& scaling = setup.scaling;
    const std::string type = rope.has("rope_type") ? rope.text("rope_type") : rope.text("type");
    const auto method = [&] {
        if (type.empty() || type == "default") return ScalingMethod::none;
        if (type == "linear") return ScalingMethod::linear;
        if (type == "dynamic") return ScalingMethod::dynamic_ntk;
        if (type == "yarn") return ScalingMethod::yarn;
        if (type == "llama3") return ScalingMethod::llama3;
        const auto nearest = nearestName(type, kKnown);
        fail(rope.name("rope_type") + " \"" + type + "\" is not known here; " +
             (nearest ? "did you mean \"" + *nearest + "\"?" : "known are " + join(kKnown, ", ")));
    };
    scaling.method = method();
    if (scaling.method == ScalingMethod::none) return;
    const auto factor = rope.number("factor", 1, bounds::kLargestFactor);
    if (!factor) fail(rope.name("factor") + " is missing: " + type + " needs it");
    scaling.factor = *factor;
    if (const auto length = rope.number("original_max_position_embeddings", 1, bounds::kLongestContext))
        scaling.original_length = *length;
    if (scaling.method == ScalingMethod::yarn) {
        scaling.beta_fast = rope.number("beta_fast", 0.001, 1e6).value_or(32);
        scaling.beta_slow = rope.number("beta_slow", 0.001, 1e6).value_or(1);
        if (scaling.beta_fast < scaling.beta_slow)
            fail(rope.name("beta_fast") + " must not be below beta_slow");
        scaling.attention_factor = rope.number("attention_factor", 0, 100).value_or(0);
        const auto scale = rope.number("mscale", 0, 100), all = rope.number("mscale_all_dim", 0, 100);
        if (scaling.attention_factor == 0 && scale && all && *all > 0 && scaling.factor > 1)
            scaling.attention_factor =
                (0.1 * *scale * std::log(scaling.factor) + 1) / (0.1 * *all * std::log(scaling.factor) + 1);
        if (rope.has("truncate") && rope.at("truncate") == false)
            notes.push_back("truncate = false is passed over: the ramp's ends are rounded to whole pairs");
    }
    if (scaling.method == ScalingMethod::llama3) {
        scaling.low_frequency_factor = rope.number("low_freq_factor", 0.001, 1e6).value_or(1);
        scaling.high_frequency_factor = rope.number("high_freq_factor", 0.001, 1e6).value_or(4);
        if (scaling.high_frequency_factor <= scaling.low_frequency_factor)
            fail(rope.name("high_freq_factor") + " must be above low_freq_factor");
    }
}

void readFraction(const Fields& config, const Fields& rope, Setup& setup) {
    const auto share = [&](const Fields& fields) {
        return firstOf([&](const char* k) { return fields.number(k, 0, 1); },
                       {"partial_rotary_factor", "rotary_pct"});
    };
    setup.rotary_fraction = 1.0;
    if (const auto inner = share(rope)) {
        setup.rotary_fraction = *inner;
    } else if (const auto outer = share(config)) {
        setup.rotary_fraction = *outer;
    } else if (const auto width = config.whole("rotary_dim", 0, setup.head_dim)) {
        setup.rotary_fraction = static_cast<double>(*width) / setup.head_dim;
    }
}

/// Whole numbers without a point, as config files have them.
Json plainNumber(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? Json(static_cast<std::int64_t>(value))
                                                                : Json(value);
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
    setup.schedule = Schedule::standard;
    const std::string model_type = config.text("model_type");
    const bool interleaved = model_type == "gptj" || model_type == "codegen" ||
                             model_type.starts_with("cohere") || model_type.starts_with("glm");
    setup.pairing = interleaved ? Pairing::interleaved : Pairing::half;

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
    if (rope) readMethod(parameters, setup, reading.notes);
    const auto base = [&](const Fields& fields) {
        return firstOf([&](const char* k) { return fields.number(k, bounds::kLeastBase, bounds::kMostBase); },
                       {"rope_theta", "rotary_emb_base"});
    };
    const auto given = base(parameters) ? base(parameters) : base(config);
    if (!given && !rope && !config.has("rotary_pct") && !config.has("rotary_dim") &&
        !config.has("partial_rotary_factor"))
        reading.notes.emplace_back(
            "the config names no rotary field; what is shown is RoPE with base 10000, if the model has it at "
            "all");
    else if (!given)
        reading.notes.emplace_back("rope_theta is missing; 10000 is taken");
    setup.base = given.value_or(10000.0);
    readFraction(config, parameters, setup);
    setup.x = Eigen::VectorXd();
    setup.y = Eigen::VectorXd();
    reading.setup = sanitized(setup);
    return reading;
}

std::string huggingFaceConfig(const Setup& setup, bool nested) {
    if (setup.schedule == Schedule::intro)
        fail("Hugging Face has no name for the intro schedule b^(-i/d); choose the standard one");
    const Scaling& s = setup.scaling;
    if (s.method == ScalingMethod::p_rope)
        fail("Hugging Face has no name for p-RoPE; choose another scaling");
    const int width = rotatedWidth(setup.head_dim, setup.rotary_fraction);
    nlohmann::ordered_json rope;
    double base = setup.base;
    switch (s.method) {
        case ScalingMethod::linear:
            rope = {{"rope_type", "linear"}, {"factor", plainNumber(s.factor)}};
            break;
        case ScalingMethod::dynamic_ntk:
            rope = {{"rope_type", "dynamic"},
                    {"factor", plainNumber(s.factor)},
                    {"original_max_position_embeddings", plainNumber(s.original_length)}};
            break;
        case ScalingMethod::yarn:
            rope = {{"rope_type", "yarn"},
                    {"factor", plainNumber(s.factor)},
                    {"original_max_position_embeddings", plainNumber(s.original_length)},
                    {"beta_fast", plainNumber(s.beta_fast)},
                    {"beta_slow", plainNumber(s.beta_slow)}};
            if (s.attention_factor > 0) rope["attention_factor"] = s.attention_factor;
            break;
        case ScalingMethod::llama3:
            rope = {{"rope_type", "llama3"},
                    {"factor", plainNumber(s.factor)},
                    {"low_freq_factor", plainNumber(s.low_frequency_factor)},
                    {"high_freq_factor", plainNumber(s.high_frequency_factor)},
                    {"original_max_position_embeddings", plainNumber(s.original_length)}};
            break;
        case ScalingMethod::ntk:  // a fixed NTK scaling is nothing but another base
            if (width > 2) base *= std::pow(s.factor, width / (width - 2.0));
            [[fallthrough]];
        default:
            rope = {{"rope_type", "default"}};
    }
    nlohmann::ordered_json config = {{"head_dim", setup.head_dim},
                                     {"max_position_embeddings", plainNumber(setup.context_length)}};
    if (nested) {
        rope["rope_theta"] = plainNumber(base);
        if (setup.rotary_fraction != 1) rope["partial_rotary_factor"] = setup.rotary_fraction;
        config["rope_parameters"] = rope;
    } else {
        config["rope_theta"] = plainNumber(base);
        if (setup.rotary_fraction != 1) config["partial_rotary_factor"] = setup.rotary_fraction;
        config["rope_scaling"] = rope["rope_type"] == "default" ? nlohmann::ordered_json() : rope;
    }
    return config.dump(2);
}

}  // namespace roper
