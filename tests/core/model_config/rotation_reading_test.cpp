#include "core/model_config/rotation_reading.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/model_config/config_fields.h"
#include "tests/support/expect_error.h"

namespace roper {
namespace {

const RotaryConfig& onlyOne(const ParsedRotation& reading) {
    EXPECT_EQ(reading.layers.size(), 1U);
    return reading.layers.front().rotary;
}

std::string notesOf(std::string_view json) {
    return join(readRotation(json).notes, "; ");
}

// θ and factor as computed by transformers 5.24.0's own modules, for configs of 205 model types: the default
// ones, and ones with changed members of the rotation (tests/parity/config_sweep.py --write).
TEST(ParsedRotation, IsWhatTransformersComputes) {
    std::ifstream file(ROPER_ROTATION_REFERENCE);
    std::size_t configs = 0;
    for (std::string line; std::getline(file, line); ++configs) {
        const auto one = nlohmann::json::parse(line);
        SCOPED_TRACE(one.at("config").dump());
        const ParsedRotation reading = readRotation(one.at("config").dump());
        for (const auto& [kind, numbers] : one.at("kinds").items()) {
            const auto found = std::find_if(
                reading.layers.begin(), reading.layers.end(), [&, &kind = kind](const RotatedLayers& layers) {
                    return layers.rotary.rotatedWidth() > 0 &&
                           (layers.kind == kind || reading.layers.size() == 1 || kind.empty());
                });
            if (found == reading.layers.end()) continue;  // no layer of the config is of this kind
            const ScaledFrequencies scaled = found->rotary.frequenciesForLength(1);
            ASSERT_EQ(scaled.theta.size(), numbers[0].get<Eigen::Index>());
            const double second = scaled.theta[std::min<Eigen::Index>(1, scaled.theta.size() - 1)];
            EXPECT_NEAR(second / numbers[1].get<double>(), 1, 3e-5);
            const double last = scaled.theta[scaled.theta.size() - 1];
            EXPECT_NEAR(last, numbers[2].get<double>(), 3e-5 * std::abs(last));
            EXPECT_NEAR(scaled.attention_factor, numbers[3].get<double>(), 1e-5);
            if (!one.at("interleaved").is_null()) {
                EXPECT_EQ(found->rotary.pairing == Pairing::interleaved, one.at("interleaved").get<bool>());
            }
        }
    }
    EXPECT_GT(configs, 1820U);
}

// In transformers 5.24, the last layer of Gemma4TextConfig has global attention (layer_types[-1]), even if
// the config says sliding.
TEST(ParsedRotation, TheLastLayerMayBeOfAnotherKind) {
    for (const char* json : {R"({"model_type": "gemma4_text", "num_hidden_layers": 8})",
                             R"({"model_type": "gemma4_text", "layer_types": ["sliding_attention",
        "sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", "full_attention",
        "sliding_attention", "sliding_attention"]})"}) {
        const ParsedRotation reading = readRotation(json);
        ASSERT_EQ(reading.layers.size(), 2U);
        EXPECT_EQ(reading.layers[0].layers, (std::vector<int>{5, 7}));
        EXPECT_EQ(reading.layers[1].layers, (std::vector<int>{0, 1, 2, 3, 4, 6}));
    }
}

// Widths as in Gemma4TextRotaryEmbedding of transformers 5.24: per_layer_config[kind].head_dim.
TEST(ParsedRotation, LayersOfAKindMayHaveAWidthOfTheirOwn) {
    const auto widths = [](const std::string& by_layer) {
        const ParsedRotation reading =
            readRotation(R"({"model_type": "gemma4_text", "num_hidden_layers": 6, "global_head_dim": 64,
                "head_dim": 32, "per_layer_config": )" +
                         by_layer + "}");
        return std::vector<int>{reading.layers.at(0).rotary.head_dim, reading.layers.at(1).rotary.head_dim};
    };
    EXPECT_EQ(widths(R"({"5": {"head_dim": 48, "num_key_value_heads": 1}})"), (std::vector<int>{48, 32}));
    // global_head_dim is used only without per_layer_config.
    EXPECT_EQ(widths("{}"), (std::vector<int>{32, 32}));
    EXPECT_EQ(widths("null"), (std::vector<int>{32, 32}));
    expectError(ErrorKind::usage, "gives layers of the kind sliding_attention different values of head_dim",
                [&] { widths(R"({"0": {"head_dim": 48}})"); });
    expectError(ErrorKind::usage, "names layer 6, but there are 6 layers, numbered from 0",
                [&] { widths(R"({"6": {"head_dim": 48}})"); });
    expectError(ErrorKind::usage, "must be the number of a layer",
                [&] { widths(R"({"x": {"head_dim": 48}})"); });
    expectError(ErrorKind::usage, "per_layer_config.5.rope_parameters is set for one layer",
                [&] { widths(R"({"5": {"rope_parameters": {}}})"); });
}

// For the first, transformers 5.24 raises AmbiguousGlobalPerLayerAttributeError; in the second, all layers
// rotate alike.
TEST(ParsedRotation, OtherModelsHaveNoWidthsByLayer) {
    expectError(ErrorKind::usage, "per_layer_config.1.head_dim is set for one layer; models of type llama", [] {
        readRotation(
            R"({"model_type": "llama", "head_dim": 64, "num_hidden_layers": 2, "per_layer_config": {"1": {"head_dim": 32}}})");
    });
    const char* same = R"({"model_type": "llama", "head_dim": 64, "rope_theta": 10000, "num_hidden_layers": 2,
        "per_layer_config": {"1": {"head_dim": 64, "intermediate_size": 256}}})";
    EXPECT_EQ(onlyOne(readRotation(same)).head_dim, 64);
    EXPECT_EQ(notesOf(same), "");
}

// transformers 5.24 computes int(head_dim * partial_rotary_factor): 100 · 0.29 is 28.999999999999996, and 44
// · (30/44) is 29.999999999999996.
TEST(ParsedRotation, AProductIsCutOffAsPythonDoes) {
    const RotaryConfig glm4 =
        onlyOne(readRotation(R"({"model_type": "glm4", "head_dim": 100, "partial_rotary_factor": 0.29})"));
    EXPECT_EQ(glm4.rotatedWidth(), 28);
    EXPECT_NEAR(glm4.frequenciesForLength(1).theta[1], 0.5179474, 1e-6);
    const RotaryConfig minimax =
        onlyOne(readRotation(R"({"model_type": "minimax_m2", "head_dim": 44, "rotary_dim": 30})"));
    EXPECT_EQ(minimax.rotatedWidth(), 30);
    EXPECT_NEAR(minimax.frequenciesForLength(1).theta[1], 0.3451454, 1e-6);
}

// Classes of transformers 5.24 that turn int(head_dim * partial_rotary_factor) or rotary_dim features by
// tables of an even width: three features raise an error, and one is repeated, which makes the head wider.
TEST(ParsedRotation, AnOddNumberOfFeaturesIsRefusedWhereItCannotBeComputed) {
    for (const std::string type : {"phi", "stablelm", "persimmon", "gpt_neox_japanese"})
        for (const std::string fraction : {"0.3", "0.5"})  // one and three of six features
            expectError(
                ErrorKind::usage, "partial_rotary_factor makes an odd number of features rotate", [&] {
                    readRotation(R"({"model_type": ")" + type +
                                 R"(", "hidden_size": 24, "num_attention_heads": 4, "rope_parameters": )" +
                                 R"({"rope_type": "default", "partial_rotary_factor": )" + fraction + "}}");
                });
    EXPECT_EQ(onlyOne(readRotation(R"({"model_type": "glm", "head_dim": 6, "partial_rotary_factor": 0.5})"))
                  .rotatedWidth(),
              4);
    for (const std::string type : {"gptj", "codegen"}) {
        const std::string begin = R"({"model_type": ")" + type + R"(", "n_embd": 32, "n_head": )";
        const auto refused = [&](const std::string& heads_and_width, const std::string& part) {
            expectError(ErrorKind::usage, part, [&] { readRotation(begin + heads_and_width + "}"); });
        };
        refused(R"(4, "rotary_dim": 3)", "rotary_dim makes an odd number of features rotate, 3");
        refused(R"(4, "rotary_dim": 0)", "rotary_dim must lie between 2 and 8, not 0");
        refused(R"(4, "rotary_dim": null)", "cannot rotate whole heads unless there is only one");
        EXPECT_EQ(onlyOne(readRotation(begin + R"(1, "rotary_dim": null})")).rotatedWidth(), 32);
        EXPECT_EQ(onlyOne(readRotation(begin + R"(4, "rotary_dim": 8})")).rotatedWidth(), 8);
    }
}

TEST(ParsedRotation, AWidthThatIsRepeatedHasAnEffect) {
    const auto notes = [](const std::string& repeated) {
        return notesOf(R"({"model_type": "deepseek_v3", "head_dim": 8, "max_position_embeddings": 64, )" +
                       std::string(R"("qk_rope_head_dim": )") + repeated + "}");
    };
    EXPECT_EQ(notes("8").find("qk_rope_head_dim"), std::string::npos) << notes("8");
    EXPECT_NE(notes("16").find("qk_rope_head_dim = 16"), std::string::npos) << notes("16");
}

// Hunyuan-MT has an alpha of 100,000: HunYuanDenseV1RotaryEmbedding of transformers 5.24 multiplies the base
// by alpha^(128/126).
TEST(ParsedRotation, ALargeAlphaOfHunyuanIsALargerBase) {
    const RotaryConfig hunyuan = onlyOne(readRotation(R"({"model_type": "hunyuan_v1_dense", "head_dim": 128,
        "rope_scaling": {"type": "dynamic", "alpha": 100000.0}, "rope_theta": 10000.0})"));
    EXPECT_EQ(hunyuan.scaling.method, ScalingMethod::none);
    EXPECT_NEAR(hunyuan.base / (1e9 * std::pow(1e5, 2.0 / 126)), 1, 1e-12);
}

TEST(ParsedRotation, ModelsWithOtherPositionsRotateNothing) {
    for (const std::string members :
         {R"("gpt2", "n_embd": 32, "n_head": 4, "n_layer": 2)", R"("opt", "num_hidden_layers": 2)",
          R"("bloom", "n_embed": 32, "n_head": 4, "n_layer": 2)",
          R"("mpt", "d_model": 32, "n_heads": 4, "n_layers": 2)"}) {
        const ParsedRotation parsed = readRotation(R"({"model_type": )" + members + "}");
        ASSERT_EQ(parsed.layers.size(), 1U) << members;
        EXPECT_EQ(parsed.layers.front().rotary.rotatedWidth(), 0);
        EXPECT_EQ(parsed.layers.front().layers, (std::vector<int>{0, 1}));
        EXPECT_NE(join(parsed.notes, "; ").find("nothing rotates: models of type"), std::string::npos);
    }
}

// For these, Mistral4Model of transformers 5.24 fails because of mismatched sizes.
TEST(ParsedRotation, AShareThatQueriesDoNotHaveIsRefused) {
    expectError(ErrorKind::usage, "makes 128 of a head's 128 features rotate, but its queries have 64", [] {
        readRotation(R"({"model_type": "mistral4", "rope_scaling": {"rope_type": "linear", "factor": 2}})");
    });
    expectError(ErrorKind::usage, "rope_parameters.rope_type makes 128 of a head's 128", [] {
        readRotation(R"({"model_type": "mistral4", "rope_parameters": {"rope_type": "default"}})");
    });
}

TEST(ParsedRotation, AFlatScalingCountsBeforeParameters) {
    const char* both = R"({"model_type": "qwen2", "head_dim": 16, "rope_theta": 50000,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000},
        "rope_scaling": {"rope_type": "linear", "factor": 4}})";
    const ParsedRotation reading = readRotation(both);
    EXPECT_EQ(onlyOne(reading).base, 50000);
    EXPECT_EQ(onlyOne(reading).scaling.method, ScalingMethod::linear);
    EXPECT_NE(notesOf(both).find("rope_scaling takes precedence"), std::string::npos);
}

TEST(ParsedRotation, LocalLayersHaveABaseOfTheirOwn) {
    const ParsedRotation reading = readRotation(R"({"model_type": "gemma3_text", "num_hidden_layers": 6,
        "rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0},
                            "sliding_attention": {"rope_type": "default"}}})");
    ASSERT_EQ(reading.layers.size(), 2U);
    EXPECT_EQ(reading.layers[0].rotary.base, 1e6);
    EXPECT_EQ(reading.layers[0].layers, std::vector<int>{5});
    EXPECT_EQ(reading.layers[1].rotary.base, 10000);
    EXPECT_EQ(reading.layers[1].layers, (std::vector<int>{0, 1, 2, 3, 4}));
    const char* former = R"({"model_type": "gemma3_text", "rope_scaling": {"type": "linear", "factor": 8}})";
    EXPECT_EQ(readRotation(former).layers[0].rotary.scaling.method, ScalingMethod::none);
    EXPECT_NE(notesOf(former).find("type is ignored because there is a rope_type"), std::string::npos);
}

TEST(ParsedRotation, AnOddShareIsRoundedUpButNotInTheExponents) {
    const RotaryConfig odd = onlyOne(readRotation(
        R"({"model_type": "gpt_neox", "hidden_size": 80, "num_attention_heads": 4, "rotary_pct": 0.25})"));
    EXPECT_EQ(odd.head_dim, 20);
    EXPECT_EQ(odd.rotatedWidth(), 6);
    EXPECT_EQ(odd.exponent_width, 5);
    const Eigen::VectorXd theta = odd.frequenciesForLength(1).theta;
    ASSERT_EQ(theta.size(), 3);
    EXPECT_NEAR(theta[2], std::pow(10000, -4.0 / 5), 1e-12);
}

TEST(ParsedRotation, ASharePassedOverIsNamedOrRefused) {
    const char* passed = R"({"model_type": "llama", "head_dim": 64, "partial_rotary_factor": 0.5})";
    EXPECT_EQ(onlyOne(readRotation(passed)).rotatedWidth(), 64);
    EXPECT_NE(notesOf(passed).find("partial_rotary_factor is not read"), std::string::npos);
    expectError(ErrorKind::usage, "partial_rotary_factor is 0.5", [] {
        readRotation(R"({"model_type": "llama", "head_dim": 64, "partial_rotary_factor": 0.5,
            "rope_scaling": {"rope_type": "linear", "factor": 2}})");
    });
}

TEST(ParsedRotation, LayersThatDoNotRotateAreSaid) {
    const ParsedRotation smol = readRotation(R"({"model_type": "smollm3", "num_hidden_layers": 8})");
    ASSERT_EQ(smol.layers.size(), 2U);
    EXPECT_EQ(smol.layers[1].kind, kNotRotated);
    EXPECT_EQ(smol.layers[1].layers, (std::vector<int>{3, 7}));
    EXPECT_EQ(smol.layers[1].rotary.rotatedWidth(), 0);
    const ParsedRotation cohere = readRotation(R"({"model_type": "cohere2", "num_hidden_layers": 4})");
    EXPECT_EQ(cohere.layers.back().layers, std::vector<int>{3});
    const ParsedRotation moe =
        readRotation(R"({"model_type": "cohere2_moe", "num_hidden_layers": 8, "first_k_dense_replace": 2})");
    EXPECT_EQ(moe.layers.front().layers, (std::vector<int>{0, 1, 2, 3, 4, 6, 7}));
    EXPECT_EQ(moe.layers.back().layers, std::vector<int>{5});
    const ParsedRotation listed = readRotation(R"({"model_type": "cohere2_moe",
        "layer_types": ["full_attention", "full_attention"], "mlp_layer_types": ["dense", "sparse"]})");
    EXPECT_EQ(listed.layers.back().layers, std::vector<int>{1});
    const ParsedRotation windows = readRotation(R"({"model_type": "cohere2_moe", "num_hidden_layers": 4,
        "first_k_dense_replace": 2, "prefix_dense_sliding_window_pattern": 2})");
    EXPECT_EQ(windows.layers.back().layers, std::vector<int>{1});
    // In modeling_exaone4.py, windowed layers alone rotate unless sliding_window, 4096 by default, is null.
    const ParsedRotation exaone =
        readRotation(R"({"model_type": "exaone4", "layer_types": ["full_attention", "full_attention"]})");
    EXPECT_EQ(exaone.layers.back().kind, kNotRotated);
    const ParsedRotation without_window = readRotation(R"({"model_type": "exaone4", "sliding_window": null,
        "layer_types": ["full_attention", "full_attention"]})");
    EXPECT_EQ(without_window.layers.size(), 1U);
    EXPECT_GT(without_window.layers.front().rotary.rotatedWidth(), 0);
    const ParsedRotation kimi = readRotation(R"({"model_type": "kimi_linear", "num_hidden_layers": 2})");
    EXPECT_EQ(kimi.layers.back().layers, (std::vector<int>{0, 1}));
    EXPECT_EQ(kimi.layers.back().kind, kNotRotated);
}

// modeling_falcon.py, modeling_granitemoehybrid.py, modeling_zamba2.py and modeling_olmo_hybrid.py of
// transformers 5.24 define frequencies that these models then do not use.
TEST(ParsedRotation, AModelMayRotateNothingByWhatItsConfigSays) {
    const auto widthOf = [](const std::string& json) {
        return readRotation(json).layers.front().rotary.rotatedWidth();
    };
    EXPECT_EQ(widthOf(R"({"model_type": "falcon"})"), 64);
    EXPECT_EQ(widthOf(R"({"model_type": "falcon", "alibi": true})"), 0);
    EXPECT_EQ(widthOf(R"({"model_type": "zamba2"})"), 0);
    EXPECT_GT(widthOf(R"({"model_type": "zamba2", "use_mem_rope": true})"), 0);
    const std::string granite = R"({"model_type": "granitemoehybrid", "layer_types": ["full_attention"])";
    EXPECT_EQ(widthOf(granite + "}"), 0);
    EXPECT_EQ(widthOf(granite + R"(, "position_embedding_type": "nope"})"), 0);
    EXPECT_EQ(widthOf(granite + R"(, "position_embedding_type": "rope"})"), 128);
    EXPECT_EQ(widthOf(R"({"model_type": "olmo_hybrid"})"), 128);
    EXPECT_EQ(widthOf(R"({"model_type": "olmo_hybrid", "rope_theta": null})"), 0);
    const std::string null_inside =
        R"({"model_type": "olmo_hybrid", "rope_parameters": {"rope_type": "default", "rope_theta": null}})";
    EXPECT_EQ(widthOf(null_inside), 0);
    EXPECT_EQ(notesOf(null_inside.c_str()).find("the value used is"), std::string::npos);
}

TEST(ParsedRotation, ValuesThatRotateAreSaid) {
    EXPECT_EQ(readRotation(R"({"model_type": "roformer", "rotary_value": true})").values,
              ValueRotation::rotated);
    EXPECT_EQ(readRotation(R"({"model_type": "roformer"})").values, ValueRotation::none);
    const ParsedRotation clvp = readRotation(R"({"model_type": "clvp_encoder"})");
    EXPECT_EQ(clvp.values, ValueRotation::rotated);
    EXPECT_EQ(onlyOne(clvp).rotatedWidth(), 32);
    const ParsedRotation deepseek = readRotation(R"({"model_type": "deepseek_v4"})");
    EXPECT_EQ(deepseek.values, ValueRotation::rotated_back);
    EXPECT_EQ(deepseek.layers.front().rotary.firstRotated(), 448);
}

// Of transformers 5.24: DeepseekV4RotaryEmbedding(DeepseekV4Config(...)).main_inv_freq.numel().
TEST(ParsedRotation, TheShareOfDeepSeekV4TakesPrecedenceOverItsNumberOfFeatures) {
    const std::string nested =
        R"("rope_parameters": {"main": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25},
           "compress": {"rope_type": "default", "rope_theta": 160000.0, "partial_rotary_factor": 0.25}}, )";
    const std::string features = R"("qk_rope_head_dim": 32, )";
    for (
        const auto& [members, pairs] :
        {std::pair{features, 16},
         {features +
              R"("rope_parameters": {"main": {"rope_theta": 10000.0}, "compress": {"rope_theta": 160000.0}}, )",
          256},
         {features + R"("partial_rotary_factor": 0.5, )", 128},
         {features + nested, 64}}) {
        SCOPED_TRACE(members);
        const ParsedRotation parsed = readRotation("{" + members + R"("model_type": "deepseek_v4"})");
        for (const RotatedLayers& of_layers : parsed.layers)
            EXPECT_EQ(of_layers.rotary.pairs(), pairs) << of_layers.kind;
    }
}

// Of transformers 5.24: DeepseekV4RotaryEmbedding(DeepseekV4Config(...)).compress_inv_freq[-1].
TEST(ParsedRotation, CompressedLayersOfDeepSeekV4AreScaledAsInTransformers) {
    const std::string yarn =
        R"("rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096)";
    struct Case {
        std::string members;
        double slowest, factor;
    };
    for (const auto& [members, slowest, factor] :
         {Case{R"("rope_parameters": {)" + yarn + "}", 5.680529e-07, 1},
          Case{R"("rope_parameters": {)" + yarn + R"(, "rope_theta": 5000.0, "partial_rotary_factor": 0.25})",
               5.680529e-07, 1},
          Case{R"("rope_parameters": {)" + yarn + R"(, "attention_factor": 1.5})", 5.680529e-07, 1.5},
          Case{R"("compress_rope_theta": 5000.0, "rope_scaling": {)" + yarn + "}", 1.631183e-05, 1},
          Case{R"("compress_rope_theta": 5000.0)", 2.609894e-04, 1},
          // as in the published configs
          Case{
              R"("rope_scaling": {"type": "yarn", "factor": 16.0, "original_max_position_embeddings": 4096})",
              5.680529e-07, 1},
          Case{R"("rope_parameters": {"main": {"rope_type": "default", "rope_theta": 10000.0},
                   "compress": {"rope_theta": 160000.0, "partial_rotary_factor": 0.125, )" +
                   yarn + "}}",
               5.680529e-07, 1.2772589}}) {
        SCOPED_TRACE(members);
        const ParsedRotation parsed = readRotation(R"({"model_type": "deepseek_v4", )" + members + "}");
        const auto compressed = std::find_if(parsed.layers.begin(), parsed.layers.end(),
                                             [](const RotatedLayers& one) { return one.kind == "compress"; });
        ASSERT_NE(compressed, parsed.layers.end());
        const auto frequencies = compressed->rotary.frequenciesForLength(1);
        ASSERT_EQ(frequencies.theta.size(), 32);
        EXPECT_NEAR(frequencies.theta[31] / slowest, 1, 1e-5);
        EXPECT_NEAR(frequencies.attention_factor, factor, 1e-6);
    }
}

TEST(ParsedRotation, TheLanguagePartIsFound) {
    for (
        const char* json :
        {R"({"model_type": "internvl_chat", "llm_config": {"model_type": "qwen2", "head_dim": 64, "rope_theta": 1000000}})",
         R"({"model_type": "qwen2_5_omni", "thinker_config": {"text_config": {"model_type": "qwen2_5_omni_text",
              "hidden_size": 2048, "num_attention_heads": 32, "rope_theta": 1000000}}})"}) {
        EXPECT_EQ(onlyOne(readRotation(json)).base, 1e6) << json;
        EXPECT_EQ(onlyOne(readRotation(json)).head_dim, 64) << json;
    }
}

TEST(ParsedRotation, WhatPythonWritesForInfinityIsReadOver) {
    const char* json = R"({"model_type": "falcon_h1", "head_dim": 64, "rope_theta": 100000000000.0,
        "time_step_limit": [0.0, Infinity], "note": "NaN \" Infinity"})";
    EXPECT_EQ(onlyOne(readRotation(json)).base, 1e11);
    expectError(ErrorKind::usage, "rope_theta must be a number, not \"Infinity\"",
                [] { readRotation(R"({"model_type": "llama", "rope_theta": Infinity})"); });
}

// Like PhimoeRotaryEmbedding.forward of transformers 5.24 (modeling_phimoe.py): θ is 1 and 0.001 at any
// length.
TEST(ParsedRotation, FactorsOfShortAndLongTextsMayDiffer) {
    const ParsedRotation reading = readRotation(R"({"model_type": "phimoe", "hidden_size": 64,
        "num_attention_heads": 16, "max_position_embeddings": 512, "original_max_position_embeddings": 128,
        "rope_scaling": {"type": "longrope", "short_factor": [1, 1], "long_factor": [2, 3], "short_mscale": 1.25,
                         "long_mscale": 1.5}})");
    const RotaryConfig phimoe = onlyOne(reading);
    EXPECT_EQ(phimoe.frequenciesForLength(128).attention_factor, 1.25);
    EXPECT_EQ(phimoe.frequenciesForLength(129).attention_factor, 1.5);
    EXPECT_NEAR(phimoe.frequenciesForLength(129).theta[1], 1e-3, 1e-15);
    ASSERT_FALSE(reading.notes.empty());
    EXPECT_EQ(reading.notes.front().substr(0, 24), "long_factor is not read ");
}

TEST(ParsedRotation, Llama3MayHaveNoSpanBetweenKeptAndScaled) {
    const RotaryConfig scout =
        onlyOne(readRotation(R"({"model_type": "llama", "head_dim": 8, "rope_theta": 500000,
        "rope_scaling": {"rope_type": "llama3", "factor": 16, "low_freq_factor": 1, "high_freq_factor": 1,
                         "original_max_position_embeddings": 100}})"));
    const Eigen::VectorXd theta = scout.frequenciesForLength(1).theta;
    EXPECT_EQ(theta[0], 1);
    EXPECT_NEAR(theta[3], std::pow(500000, -0.75) / 16, 1e-15);
}

TEST(ParsedRotation, GlobalLayersMayHaveWiderHeads) {
    const ParsedRotation gemma4 = readRotation(R"({"model_type": "gemma4_text", "head_dim": 256,
        "global_head_dim": 384, "num_hidden_layers": 6})");
    ASSERT_EQ(gemma4.layers.size(), 2U);
    EXPECT_EQ(gemma4.layers[0].rotary.head_dim, 384);
    EXPECT_EQ(gemma4.layers[0].rotary.scaling.method, ScalingMethod::p_rope);
    EXPECT_EQ(gemma4.layers[1].rotary.head_dim, 256);
    EXPECT_NE(
        notesOf(R"({"model_type": "somebodys", "head_dim": 8, "per_layer_config": {"0": {"head_dim": 128}}})")
            .find("per_layer_config is not supported here"),
        std::string::npos);
}

TEST(ParsedRotation, AModelTypeThatIsNotKnownIsSaid) {
    EXPECT_NE(notesOf(R"({"model_type": "somebodys", "head_dim": 8})").find("\"somebodys\" is unknown"),
              std::string::npos);
    EXPECT_NE(
        notesOf(R"({"model_type": "qwen", "kv_channels": 128, "hidden_size": 2048, "num_attention_heads": 16,
        "use_dynamic_ntk": true})")
            .find("use_dynamic_ntk = true"),
        std::string::npos);
}

TEST(ConfigFields, AListByLayerHasOneKnownEntryForEach) {
    const auto config = ConfigFields::parse(
        R"({"kinds": ["wide", "narrow", "wide"], "widths": [8, 16, 8], "odd": [1, 2.5], "none": null})");
    const std::vector<std::string> known{"narrow", "wide"};
    EXPECT_EQ(config.kindsByLayer("kinds", 3, known), (std::vector<std::size_t>{1, 0, 1}));
    EXPECT_EQ(config.integers("widths", 1, 99, 9), (std::vector<int>{8, 16, 8}));
    EXPECT_FALSE(config.kindsByLayer("none", 3, known));
    EXPECT_FALSE(config.integers("missing", 1, 99, 9));
    const auto refuses = [](const std::string& says, const std::function<void()>& read) {
        expectError(ErrorKind::usage, says, read);
    };
    refuses("kinds has 3 entries for 4 layers", [&] { config.kindsByLayer("kinds", 4, known); });
    refuses("\"narrow\" is unknown; expected one of wide, high", [&] {
        config.kindsByLayer("kinds", 3, {"wide", "high"});
    });
    refuses("odd must be a list of whole numbers; one entry is 2.5",
            [&] { config.integers("odd", 1, 99, 9); });
    refuses("widths must contain numbers between 1 and 9", [&] { config.integers("widths", 1, 9, 9); });
}

}  // namespace
}  // namespace roper
