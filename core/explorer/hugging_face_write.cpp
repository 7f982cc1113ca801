#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/explorer/hugging_face.h"

namespace roper {
namespace {

using Ordered = nlohmann::ordered_json;

/// Integers without a decimal point, as in config files.
Ordered plainNumber(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? Ordered(static_cast<std::int64_t>(value))
                                                                : Ordered(value);
}

Ordered numberList(const Eigen::VectorXd& values) {
    Ordered list = Ordered::array();
    for (const double value : values)
        list.push_back(plainNumber(value));
    return list;
}

/// Whether LongRoPE uses a different factor of cos and sin in texts longer than L.
bool hasSecondFactor(const Scaling& s) {
    return s.method == ScalingMethod::longrope && s.long_attention_factor > 0;
}

/// LongRoPE's two factors of cos and sin, which transformers reads only in models of type phimoe.
void addFactors(const Setup& setup, Ordered& longrope) {
    const Scaling& s = setup.scaling;
    if (!hasSecondFactor(s)) {
        if (s.attention_factor > 0) longrope["attention_factor"] = s.attention_factor;
        return;
    }
    longrope["short_mscale"] = setup.frequenciesForLength(s.original_length).attention_factor;
    longrope["long_mscale"] = s.long_attention_factor;
}

/// @throws Error (usage) for settings that require type phimoe but are not supported by it
void requireAsPhimoe(const Setup& setup) {
    const auto refuse = [](const std::string& what) {
        throw Error(ErrorKind::usage,
                    "transformers reads LongRoPE's second attention factor only in models of type phimoe, " +
                        what + ", or long_attention_factor to 0");
    };
    if (setup.pairing == Pairing::interleaved)
        refuse("which pair features half a head apart; set the pairing to half");
    if (setup.rotary_fraction != 1) refuse("which rotate all features of a head; set rotary_fraction to 1");
    const int pairs = setup.head_dim / 2;
    if (factorsPerPair(setup.scaling.short_factors, pairs) !=
        factorsPerPair(setup.scaling.long_factors, pairs))
        refuse("which use short_factor for long texts too; set long_factor to the same numbers");
}

/// rope_type and its parameters; a fixed NTK scaling is just another base.
Ordered ropeParameters(const Setup& setup) {
    const Scaling& s = setup.scaling;
    const Ordered factor = plainNumber(s.factor), length = plainNumber(s.original_length);
    switch (s.method) {
        case ScalingMethod::linear:
            return {{"rope_type", "linear"}, {"factor", factor}};
        case ScalingMethod::dynamic_ntk:
            return {{"rope_type", "dynamic"}, {"factor", factor}};
        case ScalingMethod::yarn: {
            Ordered yarn = {{"rope_type", "yarn"},
                            {"factor", factor},
                            {"original_max_position_embeddings", length},
                            {"beta_fast", plainNumber(s.beta_fast)},
                            {"beta_slow", plainNumber(s.beta_slow)}};
            if (s.attention_factor > 0) yarn["attention_factor"] = s.attention_factor;
            if (!s.truncate) yarn["truncate"] = false;
            return yarn;
        }
        case ScalingMethod::llama3:
            return {{"rope_type", "llama3"},
                    {"factor", factor},
                    {"low_freq_factor", plainNumber(s.low_frequency_factor)},
                    {"high_freq_factor", plainNumber(s.high_frequency_factor)},
                    {"original_max_position_embeddings", length}};
        case ScalingMethod::longrope: {
            const int pairs = setup.rotatedWidth() / 2;
            Ordered longrope = {{"rope_type", "longrope"},
                                {"factor", factor},
                                {"original_max_position_embeddings", length},
                                {"short_factor", numberList(factorsPerPair(s.short_factors, pairs))},
                                {"long_factor", numberList(factorsPerPair(s.long_factors, pairs))}};
            addFactors(setup, longrope);
            return longrope;
        }
        case ScalingMethod::p_rope: {
            Ordered partial = {{"rope_type", "proportional"}, {"partial_rotary_factor", s.proportion}};
            if (s.proportion_factor != 1) partial["factor"] = plainNumber(s.proportion_factor);
            return partial;
        }
        default:
            return {{"rope_type", "default"}};
    }
}

}  // namespace

std::string huggingFaceConfig(const Setup& setup, bool nested) {
    const Scaling& s = setup.scaling;
    if (setup.frequency_formula == FrequencyFormula::worked_example)
        throw Error(
            ErrorKind::usage,
            "Hugging Face has no name for the worked example's formula b^(-i/d); choose the standard one");
    const bool partial = setup.rotary_fraction != 1;
    if (partial && setup.rotated_part == RotatedPart::last)
        throw Error(
            ErrorKind::usage,
            "only models of type deepseek_v4 rotate the last features of a head, and their config.json "
            "has other members than this one; set rotated_part to first");
    if (partial && s.method == ScalingMethod::p_rope)
        throw Error(
            ErrorKind::usage,
            "Hugging Face has one name, partial_rotary_factor, for the rotated fraction and for p-RoPE's "
            "proportion; set one of them to 1");
    const double base = s.method == ScalingMethod::ntk
                            ? ntkBase(setup.base, s.factor, setup.rotatedWidth(), setup.frequency_formula)
                            : setup.base;
    // The dynamic method reads the training length only under this name.
    const double length = s.method == ScalingMethod::dynamic_ntk ? s.original_length : setup.context_length;
    const bool is_phimoe = hasSecondFactor(s);
    if (is_phimoe) requireAsPhimoe(setup);
    Ordered config = {{"head_dim", setup.head_dim}, {"max_position_embeddings", plainNumber(length)}};
    if (is_phimoe) config["model_type"] = "phimoe";
    if (setup.pairing == Pairing::interleaved) config["rope_interleave"] = true;
    const bool is_plain = s.method == ScalingMethod::none || s.method == ScalingMethod::ntk;
    Ordered rope = ropeParameters(setup);
    Ordered& target = nested ? rope : config;
    target["rope_theta"] = plainNumber(base);
    if (partial) target["partial_rotary_factor"] = setup.rotary_fraction;
    if (nested)
        config["rope_parameters"] = rope;
    else
        config["rope_scaling"] = is_plain ? Ordered() : rope;
    return config.dump(2);
}

}  // namespace roper
