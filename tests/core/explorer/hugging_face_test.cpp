#include "core/explorer/hugging_face.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/explorer/layer_group.h"
#include "core/explorer/setup_fields.h"
#include "core/explorer/setup_text.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

using ASetup = Setup;  // inside a test, Setup means a type of GoogleTest

ASetup read(const std::string& json) {
    return readHuggingFaceConfig(json, ASetup{}).setup;
}

TEST(HuggingFace, ReadsAFlatConfig) {
    const ASetup setup =
        read(R"({"hidden_size": 4096, "num_attention_heads": 32, "max_position_embeddings": 131072,
        "rope_theta": 500000.0, "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "vocab_size": 128256})");
    EXPECT_EQ(setup.head_dim, 128);
    EXPECT_EQ(setup.base, 500000);
    EXPECT_EQ(setup.context_length, 131072);
    EXPECT_EQ(setup.scaling.method, ScalingMethod::llama3);
    EXPECT_EQ(setup.scaling.factor, 8);
    EXPECT_EQ(setup.scaling.original_length, 8192);
    EXPECT_EQ(setup.pairing, Pairing::half);
}

TEST(HuggingFace, ReadsNestedParametersAndTheOlderSpelling) {
    const ASetup nested = read(R"({"head_dim": 64, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6,
        "factor": 4, "original_max_position_embeddings": 32768, "partial_rotary_factor": 0.5}})");
    EXPECT_EQ(nested.scaling.method, ScalingMethod::yarn);
    EXPECT_EQ(nested.base, 1e6);
    EXPECT_EQ(nested.rotary_fraction, 0.5);
    EXPECT_EQ(nested.scaling.beta_fast, 32);
    const ASetup old = read(R"({"head_dim": 64, "rope_scaling": {"type": "linear", "factor": 2}})");
    EXPECT_EQ(old.scaling.method, ScalingMethod::linear);
    const ASetup plain = read(R"({"head_dim": 64, "rope_theta": 10000, "rope_scaling": null})");
    EXPECT_EQ(plain.scaling.method, ScalingMethod::none);
}

TEST(HuggingFace, ReadsParametersByKindOfLayerAndInsideTextConfig) {
    const ParsedConfig reading = readHuggingFaceConfig(
        R"({"text_config": {"head_dim": 256, "rope_parameters": {"sliding_attention": {"rope_type": "default",
        "rope_theta": 10000}, "full_attention": {"rope_type": "linear", "factor": 8, "rope_theta": 1000000}}}})",
        ASetup{});
    EXPECT_EQ(reading.setup.head_dim, 256);
    EXPECT_EQ(reading.setup.base, 1e6);
    EXPECT_EQ(reading.setup.scaling.factor, 8);
    EXPECT_EQ(reading.notes.size(), 2U);
}

TEST(HuggingFace, ReadsTheNamesOfNeoxAndGptj) {
    const ASetup neox = read(R"({"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8,
        "rotary_pct": 0.25, "rotary_emb_base": 10000})");
    EXPECT_EQ(neox.rotary().rotatedWidth(), 16);
    const ASetup gptj = read(R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "rotary_dim": 64})");
    EXPECT_EQ(gptj.head_dim, 256);
    EXPECT_EQ(gptj.rotary().rotatedWidth(), 64);
    EXPECT_EQ(gptj.pairing, Pairing::interleaved);
}

TEST(HuggingFace, WhatIsWrittenReadsBack) {
    for (const ScalingMethod method : kScalingMethods) {
        for (const bool nested : {false, true}) {
            ASetup setup;
            setup.head_dim = 64;
            setup.base = 20000;
            setup.rotary_fraction = method == ScalingMethod::p_rope ? 1.0 : 0.5;
            setup.pairing = nested ? Pairing::interleaved : Pairing::half;
            setup.scaling.method = method;
            setup.scaling.factor = 3;
            setup.scaling.original_length = 2048;
            setup.context_length = 8192;
            setup = sanitized(setup);
            const ASetup back = read(huggingFaceConfig(setup, nested));
            EXPECT_EQ(back.head_dim, 64);
            EXPECT_EQ(back.pairing, setup.pairing);
            // For the dynamic method, the length of the text is not part of the config.
            if (method == ScalingMethod::dynamic_ntk) setup.context_length = back.context_length;
            // A fixed NTK scaling is read back as the equivalent base.
            EXPECT_LT((back.rotary().theta - setup.rotary().theta).cwiseAbs().maxCoeff(), 1e-14)
                << static_cast<int>(method) << nested;
            EXPECT_DOUBLE_EQ(back.attentionFactor(), setup.attentionFactor());
        }
    }
}

// In transformers 5.24 only models of type phimoe read such a factor: PhimoeRotaryEmbedding.forward
// (modeling_phimoe.py) multiplies cos and sin by 1.125 for 2,048 positions and by 1.75 for 2,049, and uses
// short_factor in both cases.
TEST(HuggingFace, TheSecondAttentionFactorIsWritten) {
    ASetup setup;
    setup.head_dim = 8;
    setup.base = 20000;
    setup.context_length = 8192;
    setup.scaling.method = ScalingMethod::longrope;
    setup.scaling.factor = 4;
    setup.scaling.original_length = 2048;
    setup.scaling.attention_factor = 1.125;
    setup.scaling.long_attention_factor = 1.75;
    setup.scaling.short_factors = Eigen::Vector4d(1, 1.5, 2, 3);
    setup.scaling.long_factors = setup.scaling.short_factors;
    setup = sanitized(setup);
    for (const bool nested : {false, true}) {
        ASetup back = read(huggingFaceConfig(setup, nested));
        EXPECT_EQ(back.scaling.long_attention_factor, 1.75);
        EXPECT_EQ(back.rotary().theta, setup.rotary().theta);
        back.context_length = 2048;
        EXPECT_EQ(back.attentionFactor(), 1.125);
        back.context_length = 2049;
        EXPECT_EQ(back.attentionFactor(), 1.75);
    }
    // If the factor is not given, the value that follows from s and L is written.
    setup.scaling.attention_factor = 0;
    ASetup back = read(huggingFaceConfig(setup, true));
    EXPECT_DOUBLE_EQ(back.scaling.attention_factor, std::sqrt(1 + std::log(4) / std::log(2048)));
    EXPECT_EQ(back.scaling.long_attention_factor, 1.75);

    const auto refused = [](ASetup other, const std::string& part) {
        expectError(ErrorKind::usage, part, [&] { huggingFaceConfig(other, true); });
    };
    ASetup other = setup;
    other.pairing = Pairing::interleaved;
    refused(other, "set the pairing to half, or long_attention_factor to 0");
    other = setup;
    other.rotary_fraction = 0.5;
    refused(other, "set rotary_fraction to 1");
    other = setup;
    other.scaling.long_factors = Eigen::Vector4d(1, 2, 4, 8);
    refused(other, "set long_factor to the same numbers");
}

// Excerpts of published configs; expected frequencies are calculated by hand.
TEST(HuggingFace, ReadsWhatModelsMean) {
    // gpt-oss: the bounds of the ramp are not rounded; the training length is in rope_scaling.
    const ASetup oss =
        read(R"({"head_dim": 64, "max_position_embeddings": 131072, "rope_theta": 150000, "rope_scaling":
        {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0, "truncate": false,
        "original_max_position_embeddings": 4096}})");
    EXPECT_FALSE(oss.scaling.truncate);
    // c(32) = 8.09, c(1) = 17.40: pair 12 lies (12 − 8.0928)/(17.3980 − 8.0928) = 0.41990 along the ramp.
    const double theta = std::pow(150000.0, -24.0 / 64);
    EXPECT_NEAR(oss.rotary().theta[12], theta * (1 - 0.41990 * (1 - 1 / 32.0)), 1e-4 * theta);
    // The training length at the top level counts; a missing factor follows from the lengths.
    const ASetup top = read(R"({"head_dim": 64, "max_position_embeddings": 16384,
        "original_max_position_embeddings": 4096, "rope_scaling": {"rope_type": "yarn"}})");
    EXPECT_EQ(top.scaling.original_length, 4096);
    EXPECT_EQ(top.scaling.factor, 4);
    const ASetup deepseek =
        read(R"({"qk_rope_head_dim": 64, "rope_interleave": true, "rope_scaling": {"type": "yarn",
        "factor": 40, "mscale": 0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}})");
    EXPECT_EQ(deepseek.pairing, Pairing::interleaved);
    EXPECT_DOUBLE_EQ(deepseek.attentionFactor(), 0.1 * std::log(40.0) + 1);
    EXPECT_EQ(read(R"({"model_type": "glm4_moe", "head_dim": 64})").pairing, Pairing::half);
    EXPECT_EQ(read(R"({"model_type": "glm4", "head_dim": 64})").pairing, Pairing::interleaved);
    EXPECT_EQ(read(R"({"head_dim": 64, "rope_theta": 3580165449})").base, 3580165449.0);
    // An object next to rope_type is not a kind of layer.
    EXPECT_EQ(
        read(R"({"head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 2, "meta": {"a": 1}}})")
            .scaling.factor,
        2);
    const ASetup proportional = read(R"({"head_dim": 64, "rope_parameters": {"rope_type": "proportional",
        "partial_rotary_factor": 0.25, "rope_theta": 1000000}})");
    EXPECT_EQ(proportional.rotary().pairs(), 32);
    EXPECT_EQ((proportional.rotary().theta.array() > 0).count(), 8);
    const ASetup dynamic =
        read(R"({"head_dim": 64, "max_position_embeddings": 2048, "rope_scaling": {"type": "dynamic",
        "factor": 2, "original_max_position_embeddings": 512}})");
    EXPECT_EQ(dynamic.scaling.original_length, 2048);
}

// Members without an effect are reported with their values; other members are not.
TEST(HuggingFace, WhatIsNotUnderstoodIsNamed) {
    const ParsedConfig reading = readHuggingFaceConfig(
        R"({"head_dim": 64, "rope_theta": 10000, "vocab_size": 7, "use_nope": true, "no_rope_layers": [0, 1], "rope_scaling":
        {"type": "linear", "factor": 2, "mrope_section": [8, 12, 12], "note": null}, "sliding_window": 4})",
        ASetup{});
    ASSERT_EQ(reading.notes.size(), 1U);
    EXPECT_EQ(reading.notes[0],
              "not understood and not shown: rope_scaling.mrope_section = [8,12,12], no_rope_layers = [0,1]");
    EXPECT_TRUE(reading.kinds.empty());
}

TEST(HuggingFace, LayersOfOtherKindsCanBeShown) {
    const ParsedConfig reading = readHuggingFaceConfig(
        R"({"model_type": "gemma3_text", "rope_scaling": {"rope_type": "linear", "factor": 8}})", ASetup{});
    ASSERT_EQ(reading.kinds.size(), 2U);
    EXPECT_EQ(reading.kinds[0].name, "full_attention");
    EXPECT_EQ(reading.kinds[1].name, "sliding_attention");
    EXPECT_EQ(reading.setup.head_dim, 256);
    EXPECT_TRUE(haveSameRotation(reading.setup, reading.kinds[0].setup));
    EXPECT_FALSE(haveSameRotation(reading.setup, reading.kinds[1].setup));
    EXPECT_TRUE(
        haveSameRotation(withRotationOf(reading.setup, reading.kinds[1].setup), reading.kinds[1].setup));
    EXPECT_EQ(reading.kinds[1].setup.base, 10000);
    EXPECT_EQ(reading.kinds[1].setup.scaling.method, ScalingMethod::none);
}

// DeepSeek V4 has one vector for key and value, rotates its last features, and the output back; CLVP and
// RoFormer with rotary_value never rotate back.
TEST(HuggingFace, HowValuesRotateIsShownAndSaid) {
    const auto says = [](const ParsedConfig& reading, const std::string& part) {
        return std::any_of(reading.notes.begin(), reading.notes.end(),
                           [&](const std::string& note) { return note.find(part) != std::string::npos; });
    };
    ASetup before;
    before.method = "alibi";
    before.mistake = Mistake::values_twice;
    const ParsedConfig v4 = readHuggingFaceConfig(R"({"model_type": "deepseek_v4"})", before);
    EXPECT_TRUE(v4.setup.shared_key_value);
    EXPECT_EQ(v4.setup.method, "roper");
    EXPECT_EQ(v4.setup.mistake, Mistake::none);
    EXPECT_EQ(v4.setup.rotary().first, 448);
    EXPECT_EQ(v4.setup.valueRotary().first, 448);
    EXPECT_EQ(v4.setup.valueRotary().rotatedWidth(), 64);
    EXPECT_TRUE(says(v4, "outputs are rotated back, as in RoPER"));
    EXPECT_TRUE(says(v4, "both key and value"));
    const ParsedConfig roformer =
        readHuggingFaceConfig(R"({"model_type": "roformer", "rotary_value": true})", before);
    EXPECT_FALSE(roformer.setup.shared_key_value);
    EXPECT_EQ(roformer.setup.mistake, Mistake::no_inverse);
    EXPECT_TRUE(says(roformer, "never rotated back"));
    const ParsedConfig plain = readHuggingFaceConfig(R"({"model_type": "llama", "head_dim": 64})", v4.setup);
    EXPECT_FALSE(plain.setup.shared_key_value);
    EXPECT_FALSE(says(plain, "values"));
    expectError(ErrorKind::usage, "set rotated_part to first", [&] { huggingFaceConfig(v4.setup, true); });
}

TEST(HuggingFace, HeadsOf512AreShown) {
    const ParsedConfig reading = readHuggingFaceConfig(R"({"model_type": "gemma4_text"})", ASetup{});
    ASSERT_EQ(reading.kinds.size(), 2U);
    EXPECT_EQ(reading.kinds[0].setup.head_dim, 512);
    EXPECT_EQ(reading.kinds[1].setup.head_dim, 256);
    EXPECT_EQ(reading.kinds[0].setup.rotary().rotatedWidth(), 512);
    EXPECT_EQ(reading.setup.x.size(), 512);
}

// Reference values computed by transformers itself: tests/parity/transformers_reference.py.
TEST(HuggingFace, FrequenciesAreThoseOfTransformers) {
    std::ifstream file(ROPER_TRANSFORMERS_REFERENCE);
    const nlohmann::json reference = nlohmann::json::parse(file);
    std::set<std::string> methods;
    for (const nlohmann::json& one : reference.at("cases")) {
        SCOPED_TRACE(one.at("name").get<std::string>());
        ParsedConfig reading = readHuggingFaceConfig(one.at("config").dump(), ASetup{});
        if (reading.kinds.empty()) reading.kinds.push_back({"", reading.setup});
        ASSERT_EQ(reading.kinds.size(), one.at("kinds").size());
        EXPECT_EQ(reading.setup.pairing == Pairing::interleaved, one.at("interleaved").get<bool>());
        for (std::size_t kind = 0; kind < reading.kinds.size(); ++kind) {
            const nlohmann::json& expected = one.at("kinds")[kind];
            EXPECT_EQ(reading.kinds[kind].name, expected.at("name").get<std::string>());
            ASetup setup = reading.kinds[kind].setup;
            if (!one.at("length").is_null()) setup.context_length = one.at("length");
            methods.insert(nameOf(setup.scaling.method));
            const auto theta = expected.at("theta").get<std::vector<double>>();
            const Eigen::VectorXd ours = setup.rotary().theta;
            ASSERT_EQ(static_cast<std::size_t>(ours.size()), theta.size());
            for (std::size_t i = 0; i < theta.size(); ++i)
                EXPECT_NEAR(ours[static_cast<Eigen::Index>(i)], theta[i], 1e-12) << "pair " << i;
            EXPECT_NEAR(setup.scaled(setup.scaling.method).attention_factor,
                        expected.at("attention_factor").get<double>(), 1e-12);
        }
    }
    EXPECT_EQ(methods.size(), kScalingMethods.size());  // Hunyuan's alpha means fixed NTK scaling
}

TEST(HuggingFace, KnownModelsLeaveNothingOut) {
    for (const KnownModel& model : knownModels()) {
        SCOPED_TRACE(model.name);
        const ParsedConfig reading = readHuggingFaceConfig(model.config, ASetup{});
        for (const std::string& note : reading.notes)
            EXPECT_EQ(note.find("not understood"), std::string::npos) << note;
    }
}

TEST(LayerGroup, SettingsGiveTheFrequenciesOfEveryKnownModel) {
    for (const KnownModel& model : knownModels())
        for (const LayerGroup& group : layerGroupsOf(model.name, readRotation(model.config))) {
            SCOPED_TRACE(model.name + ", " + group.kind);
            const ASetup setup = withSettings(ASetup{}, group.settings);
            // Latent attention keeps other features unrotated, which a setup does not have.
            EXPECT_EQ(group.head_dim, setup.head_dim + (group.family == "deepseek_v3" ? 128 : 0));
            const Eigen::VectorXd theta = setup.rotary().theta;
            ASSERT_EQ(static_cast<std::size_t>(theta.size()), group.theta.size());
            for (std::size_t pair = 0; pair < group.theta.size(); ++pair)
                EXPECT_NEAR(theta[static_cast<Eigen::Index>(pair)], group.theta[pair],
                            1e-12 * group.theta[pair]);
        }
}

TEST(LayerGroup, CountsWavelengthsBeyondTheContext) {
    const auto groups = [](const std::string& config) { return layerGroupsOf("tiny", readRotation(config)); };
    // θ = 1, 0.1, 0.01, 0.001: wavelengths of 6.3, 63, 628 and 6283 positions.
    const std::string four = R"({"model_type": "llama", "head_dim": 8, "rope_theta": 10000, )";
    EXPECT_EQ(groups(four + R"("max_position_embeddings": 628})").front().pairsThatNeverTurn(), 2);
    EXPECT_EQ(groups(four + R"("max_position_embeddings": 629})").front().pairsThatNeverTurn(), 1);
    EXPECT_FALSE(
        groups(four + R"("rms_norm_eps": 1e-6, "max_position_embeddings": 0})").front().pairsThatNeverTurn());
    // Gemma 4's global layers rotate a quarter of the pairs (p-RoPE); the others have no wavelength.
    const auto gemma = groups(R"({"model_type": "gemma4_text", "num_hidden_layers": 6, "head_dim": 16,
        "global_head_dim": 32, "max_position_embeddings": 1024})");
    ASSERT_EQ(gemma.size(), 2U);
    EXPECT_EQ(gemma[0].head_dim, 32);
    EXPECT_EQ(gemma[0].theta.size(), 4U);
    EXPECT_EQ(gemma[1].theta.size(), 8U);
    // DeepSeek's heads have features that never rotate beside those that do.
    const auto latent = groups(R"({"model_type": "deepseek_v3", "num_hidden_layers": 2, "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 16})");
    EXPECT_EQ(latent.front().head_dim, 24);
    EXPECT_EQ(latent.front().theta.size(), 4U);
}

TEST(LayerGroup, LeavesOutWhatNoLayerHas) {
    const auto groups = [](const std::string& config) { return layerGroupsOf("tiny", readRotation(config)); };
    // Every sixth layer of Gemma 3 attends to all tokens: the only kind of four layers is the other one.
    const auto gemma = groups(R"({"model_type": "gemma3_text", "num_hidden_layers": 4, "head_dim": 16})");
    ASSERT_EQ(gemma.size(), 1U);
    EXPECT_EQ(gemma.front().kind, "sliding_attention");
    EXPECT_EQ(gemma.front().layers, (std::vector<int>{0, 1, 2, 3}));
    expectError(ErrorKind::usage, "nothing in its config.json says that it rotates",
                [&] { groups(R"({"model_type": "bert", "hidden_size": 16, "num_attention_heads": 2})"); });
}

TEST(LayerGroup, JsonIsReadBack) {
    LayerGroup group{.model = "a \"b\"", .family = "gpt_oss", .kind = "full_attention", .layers = {1, 3}};
    group.context = 4096;
    group.window = 128;
    group.head_dim = 4;
    group.theta = {1, 0.1};
    group.sinks = true;
    group.values_rotate = true;
    group.mean_distance = 2.5;
    group.settings = {{"base", "500000"}};
    group.path = "/models/a";
    group.notes = {"a note"};
    group.problem = "a problem";
    const LayerGroup back = parseLayerGroup(toJson(group).dump());
    EXPECT_EQ(toJson(back), toJson(group));
    EXPECT_EQ(back.sinks, std::optional(true));
    EXPECT_FALSE(back.slow_share);
    EXPECT_EQ(back.settings, group.settings);
    EXPECT_EQ(parseLayerGroup(R"({"model": "m", "error": "damaged"})").error, "damaged");
    for (const char* wrong : {"{}", "[]", "no JSON", R"({"model": 1})"})
        expectError(ErrorKind::other, "a row of layers cannot be read", [&] { parseLayerGroup(wrong); });
}

TEST(HuggingFace, WhatHasNoNameIsSaid) {
    ASetup setup = sanitized(ASetup{});
    setup.frequency_formula = FrequencyFormula::worked_example;
    expectError(ErrorKind::usage, "worked example's formula", [&] { huggingFaceConfig(setup, true); });
    setup.frequency_formula = FrequencyFormula::standard;
    setup.scaling.method = ScalingMethod::p_rope;
    setup.rotary_fraction = 0.5;
    expectError(ErrorKind::usage, "set one of them to 1", [&] { huggingFaceConfig(setup, true); });
}

TEST(HuggingFace, AKeyMayHoldAnyCharacter) {
    const ASetup setup = read(
        "{\"head_dim\": 64, \"rope_parameters\": {\"a\\u0000b\": {\"rope_type\": \"linear\", \"factor\": "
        "3}}}");
    EXPECT_EQ(setup.scaling.method, ScalingMethod::linear);
    EXPECT_EQ(setup.scaling.factor, 3);
}

TEST(HuggingFace, AWrongConfigGetsAClearMessage) {
    const auto refused = [](const std::string& json, const std::string& part) {
        expectError(ErrorKind::usage, part, [&] { read(json); });
    };
    refused("", "the text is empty");
    refused("{", "not JSON");
    refused("[]", "one JSON object");
    refused("{}", "head's width is missing");
    refused(R"({"hidden_size": 100, "num_attention_heads": 3})", "not divisible");
    refused(R"({"head_dim": 63})", "head_dim must be even");
    refused(R"({"head_dim": 514})", "up to 512");
    refused(R"({"head_dim": "wide"})", "head_dim must be a number, not \"wide\"");
    refused(R"({"head_dim": 64.5})", "must be a whole number");
    refused(R"({"head_dim": 64, "head_dim": 32})", "occurs twice");
    refused(R"({"head_dim": 64, "rope_theta": -1})", "rope_theta must lie between");
    refused(R"({"head_dim": 64, "rope_scaling": "yarn"})", "rope_scaling must be an object");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "yarm", "factor": 2}})",
            "expected one of default, linear");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "axial", "factor": 2}})", "expected one of");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "longrope", "factor": 2}})",
            "rope_scaling.short_factor is missing: a list of 32 numbers");
    refused(
        R"({"head_dim": 8, "rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": [1, 2]}})",
        "has 2 numbers; it needs one for each of 4 pairs");
    refused(
        R"({"head_dim": 4, "rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": [1, "2"]}})",
        "one entry is \"2\"");
    refused(
        R"({"head_dim": 4, "rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": [1, -2]}})",
        "must contain numbers between");
    refused(R"({"head_dim": 64, "rope_interleave": 1})", "rope_interleave must be true or false");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "yarn"}})", "rope_scaling.factor is missing");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "linear", "factor": 0.5}})",
            "rope_scaling.factor must lie between");
    refused(R"({"head_dim": 64, "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
        "high_freq_factor": 1}})",
            "must not be below low_freq_factor");
    refused(R"({"head_dim": 64, "partial_rotary_factor": 1.5})",
            "partial_rotary_factor must lie between 0 and 1");
    refused("{\"head_dim\":64,\"rope_theta\":" + std::string(100000, '[') + std::string(100000, ']') + "}",
            "nested too deeply");
    std::string deep;
    for (int i = 0; i < 100; ++i)
        deep += "{\"a\":";
    refused(deep + "1" + std::string(100, '}'), "nested too deeply");
}

}  // namespace
}  // namespace roper
