#include "core/pretrained/gguf_entries.h"

#include <cmath>
#include <fstream>
#include <map>

#include "core/base/text.h"
#include "core/pretrained/architecture.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_bytes.h"
#include "tests/support/temporary_folder.h"

namespace roper {
namespace {

/// The required entries of a small model.
GgufBytes smallModel(const std::string& architecture, std::uint32_t layers = 2) {
    GgufBytes bytes;
    bytes.add("general.architecture", architecture);
    const std::string prefix = architecture + ".";
    bytes.add(prefix + "vocab_size", 64U);
    bytes.add(prefix + "embedding_length", 64U);
    bytes.add(prefix + "block_count", layers);
    bytes.add(prefix + "attention.head_count", 2U);
    bytes.add(prefix + "attention.key_length", 16U);
    bytes.add(prefix + "attention.value_length", 16U);
    bytes.add(prefix + "feed_forward_length", 48U);
    bytes.add(prefix + "context_length", 128U);
    const bool centers = architecture == "gptneox" || architecture == "gpt2" ||
                         architecture == "modern-bert" || architecture == "nomic-bert";
    bytes.add(prefix + (centers ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon"),
              1e-5F);
    return bytes;
}

ParsedArchitecture read(const GgufBytes& bytes) {
    const TemporaryFolder folder;
    std::ofstream(folder / "model.gguf", std::ios::binary) << bytes.bytes();
    return readGgufArchitecture(GgufFile::read(folder / "model.gguf").metadata);
}

template <class Value>
ParsedArchitecture readWith(const std::string& architecture, const std::string& name, const Value& value) {
    GgufBytes bytes = smallModel(architecture);
    bytes.add(architecture + "." + name, value);
    return read(bytes);
}

template <class Value>
void expectRefused(const std::string& architecture, const std::string& name, const Value& value) {
    expectError(ErrorKind::checkpoint, "model.gguf: the entry " + architecture + "." + name + " ",
                [&] { readWith(architecture, name, value); });
}

// llama.cpp's get_key_or_arr accepts both; its converters write lists for models such as OpenELM and Gemma
// 3n.
TEST(GgufKeys, AListOfEqualNumbersIsThatNumber) {
    const auto withLists = [](const std::vector<std::int32_t>& heads, const std::vector<std::int32_t>& wide) {
        GgufBytes bytes = smallModel("llama");
        bytes.add("llama.attention.head_count_kv", heads);
        bytes.add("llama.rope.dimension_count", wide);
        return read(bytes).architecture;
    };
    const Architecture model = withLists({1, 1}, {16, 16});
    EXPECT_EQ(model.key_value_heads, 1);
    EXPECT_EQ(model.rotations.front().rotatedWidth(), 16);
    EXPECT_EQ(
        readWith("llama", "rope.freq_base", std::vector<float>{500, 500}).architecture.rotations[0].base,
        500);
    expectError(ErrorKind::checkpoint,
                "llama.attention.head_count_kv is 1 in layer 0 and 2 in layer 1; layers that differ in it "
                "are not supported",
                [&] {
                    withLists({1, 2}, {16, 16});
                });
    expectError(ErrorKind::checkpoint, "llama.rope.dimension_count is 16 in layer 0 and 8 in layer 1", [&] {
        withLists({1, 1}, {16, 8});
    });
    expectError(ErrorKind::checkpoint, "llama.rope.dimension_count is a list of 3 numbers for 2 layers", [&] {
        withLists({1, 1}, {16, 16, 16});
    });
}

const std::vector<std::string> kAll = {"llama",  "qwen2",  "qwen3",   "gemma",
                                       "gemma2", "gemma3", "gptneox", "gpt2"};

TEST(GgufKeys, WhatIsNotObeyedIsRefusedByName) {
    for (const std::string& architecture : kAll) {
        for (const char* const name :
             {"logit_scale", "embedding_scale", "residual_scale", "attention.scale", "attention.output_scale",
              "attention.temperature_scale", "attention.clamp_kqv", "attention.max_alibi_bias",
              "expert_weights_scale"})
            expectRefused(architecture, name, 0.5F);
        for (const char* const name :
             {"expert_used_count", "attention.shared_kv_layers", "attention.key_length_swa",
              "attention.value_length_swa", "attention.kv_lora_rank", "ssm.inner_size", "ssm.state_size",
              "leading_dense_block_count", "embedding_length_per_layer_input", "embedding_length_out",
              "attention.temperature_length", "nextn_predict_layers"})
            expectRefused(architecture, name, 8U);
        if (architecture != "llama") expectRefused(architecture, "expert_count", 8U);
        expectRefused(architecture, "swin_norm", true);
        expectRefused(architecture, "a.key.of.next.year", 0U);
    }
    for (const char* const architecture : {"llama", "qwen2", "qwen3", "gemma", "gptneox", "gpt2"}) {
        expectRefused(architecture, "attn_logit_softcapping", 30.0F);
        expectRefused(architecture, "final_logit_softcapping", 30.0F);
    }
    expectRefused("qwen3", "rope.dimension_sections", std::vector<std::int32_t>{4, 4, 0, 0});
    expectRefused("qwen3", "rope.scaling.alpha", 1000.0F);
    expectRefused("llama", "use_parallel_residual", true);
    expectRefused("qwen2", "attention.sliding_window", 32U);  // it does not say for which layers
    expectRefused("llama", "rope.dimension_count", 8U);
}

/// The required entries of a small mixture of 8 experts.
GgufBytes smallMixture(const std::string& architecture, std::uint32_t per_token = 2) {
    GgufBytes bytes = smallModel(architecture);
    bytes.add(architecture + ".expert_count", 8U);
    bytes.add(architecture + ".expert_used_count", per_token);
    return bytes;
}

TEST(GgufKeys, AMixtureIsRefusedIfItsRouterWouldChooseOtherwise) {
    EXPECT_EQ(read(smallMixture("llama")).architecture.family, "mixtral");
    const auto expectNot = [](GgufBytes bytes, const std::string& key, std::uint32_t value,
                              const std::string& why) {
        bytes.add(key, value);
        expectError(ErrorKind::checkpoint, "the entry " + key + " is " + why, [&] { read(bytes); });
    };
    expectNot(smallMixture("llama"), "llama.expert_gating_func", 2, "2, which is not how");
    expectNot(smallMixture("glm4moe"), "glm4moe.expert_gating_func", 1, "1, which is not how");
    expectNot(smallMixture("qwen3moe"), "qwen3moe.expert_gating_func", 4, "4, which is not how");
    expectNot(smallMixture("glm4moe"), "glm4moe.expert_group_count", 3, "3: 8 experts do not form groups");
    expectNot(smallMixture("qwen3moe"), "qwen3moe.expert_shared_count", 1, "1: ");
    expectNot(smallMixture("qwen3moe"), "qwen3moe.leading_dense_block_count", 1, "1: ");
    expectNot(smallMixture("llama4"), "llama4.attention.sliding_window", 4096, "4096; chunks");
    expectError(ErrorKind::checkpoint, "expert_used_count is 9, but there are 8 experts",
                [] { read(smallMixture("llama", 9)); });
    expectError(ErrorKind::checkpoint,
                "expert_used_count is 3; this family's router always chooses two experts",
                [] { read(smallMixture("phimoe", 3)); });
}

/// The entries of a small mixture with latent attention, as written since April 2025.
GgufBytes smallLatentModel(std::map<std::string, std::uint32_t> changed = {}) {
    changed.merge(std::map<std::string, std::uint32_t>{{"vocab_size", 64},
                                                       {"embedding_length", 64},
                                                       {"block_count", 2},
                                                       {"attention.head_count", 2},
                                                       {"feed_forward_length", 48},
                                                       {"context_length", 128},
                                                       {"expert_count", 8},
                                                       {"expert_used_count", 2},
                                                       {"attention.kv_lora_rank", 10},
                                                       {"attention.key_length", 16},
                                                       {"attention.value_length", 10},
                                                       {"attention.key_length_mla", 20},
                                                       {"rope.dimension_count", 6},
                                                       {"attention.value_length_mla", 12}});
    GgufBytes bytes;
    bytes.add("general.architecture", std::string("deepseek2"));
    for (const auto& [name, value] : changed)
        bytes.add("deepseek2." + name, value);
    bytes.add("deepseek2.attention.layer_norm_rms_epsilon", 1e-6F);
    return bytes;
}

TEST(GgufKeys, LatentAttentionHasTheWidthsOfItsHeads) {
    const Architecture model = read(smallLatentModel()).architecture;
    EXPECT_EQ(model.family, "deepseek_v2");
    EXPECT_EQ(model.head_dim, 20);
    EXPECT_EQ(model.value_dim, 12);
    EXPECT_EQ(model.latent.rank, 10);
    EXPECT_EQ(model.latent.query_rank, 0);
    EXPECT_EQ(model.rotations.front().rotatedWidth(), 6);
    EXPECT_NEAR(model.score_scale, 1 / std::sqrt(20.0), 1e-12);
    EXPECT_EQ(read(smallLatentModel({{"expert_gating_func", 2}})).architecture.family, "deepseek_v3");
    // GLM 4.7 Flash, whose first files do not say how their router makes scores.
    const auto familyOf = [](std::uint32_t layers, std::uint32_t tokens) {
        return read(smallLatentModel({{"block_count", layers}, {"vocab_size", tokens}})).architecture.family;
    };
    EXPECT_EQ(familyOf(47, 154880), "deepseek_v3");
    EXPECT_EQ(familyOf(47, 1000), "deepseek_v2");
}

TEST(GgufKeys, AScalingThatTheFileDeclaresUnusedIsNoted) {
    GgufBytes bytes = smallModel("llama");
    bytes.add("llama.rope.scaling.type", std::string("none"));
    bytes.add("llama.rope.scaling.factor", 3.0F);
    const ParsedArchitecture parsed = read(bytes);
    EXPECT_EQ(parsed.architecture.rotations.front().scaling.method, ScalingMethod::none);
    EXPECT_TRUE(hasElement(parsed.notes,
                           "the entry llama.rope.scaling.factor is 3, but llama.rope.scaling.type is "
                           "\"none\": frequencies are not scaled, as in llama.cpp"))
        << join(parsed.notes, "; ");
}

TEST(GgufKeys, ALlama4MayLackExperts) {
    GgufBytes bytes = smallModel("llama4");
    for (const char* const name : {"expert_count", "expert_used_count", "interleave_moe_layer_step"})
        bytes.add(std::string("llama4.") + name, 0U);
    bytes.add("llama4.expert_feed_forward_length", 24U);
    EXPECT_EQ(read(bytes).architecture.mixture.experts, 0);
}

TEST(GgufKeys, LatentAttentionIsRefusedByName) {
    const auto expectNot = [](const std::string& name, std::uint32_t value, const std::string& why) {
        expectError(ErrorKind::checkpoint, "the entry deepseek2." + name + " " + why, [&] {
            read(smallLatentModel({{name, value}}));
        });
    };
    expectNot("attention.key_length", 20, "is 20, but the latent vector has 10 features");
    expectNot("attention.value_length", 12, "is 12, but the latent vector has 10 features");
    expectNot("rope.dimension_count", 20, "is 20; in latent attention it must be even and below");
    expectNot("expert_gating_func", 4, "is 4, which is not how");
    expectNot("attention.temperature_scale", 1, "is 1: scores would grow");
    expectNot("nextn_predict_layers", 1, "is 1: blocks would");
    GgufBytes yarn = smallLatentModel();
    yarn.add("deepseek2.rope.scaling.type", std::string("yarn"));
    yarn.add("deepseek2.rope.scaling.factor", 4.0F);
    yarn.add("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F);
    yarn.add("deepseek2.rope.scaling.yarn_attn_factor", 1.0F);
    EXPECT_NEAR(read(yarn).architecture.score_scale, std::pow(0.1 * std::log(4.0) + 1, 2) / std::sqrt(20.0),
                1e-8);
    EXPECT_EQ(read(yarn).architecture.rotations.front().scaling.attention_factor, 1);
    yarn.add("deepseek2.rope.scaling.attn_factor", 0.5F);
    expectError(ErrorKind::checkpoint, "rope.scaling.attn_factor is 0.5; programs interpret this differently",
                [&] { read(yarn); });
}

TEST(GgufKeys, LayersThatPredictFurtherTokensAreNoBlocks) {
    GgufBytes bytes = smallMixture("glm4moe");
    bytes.add("glm4moe.nextn_predict_layers", 1U);
    EXPECT_EQ(read(bytes).architecture.layers, 1);
}

TEST(GgufKeys, LlamaFourWithoutChunksRotatesInAllLayers) {
    GgufBytes bytes = smallMixture("llama4");
    EXPECT_EQ(read(bytes).architecture.window, 8192);
    EXPECT_EQ(read(bytes).architecture.rotations.size(), 2U);
    bytes.add("llama4.attention.sliding_window", 0U);
    EXPECT_EQ(read(bytes).architecture.window, 0);
    EXPECT_EQ(read(bytes).architecture.rotations.size(), 1U);
}

TEST(GgufKeys, ValuesThatMeanNothingPass) {
    for (const std::string& architecture : kAll) {
        for (const char* const name : {"expert_count", "attention.shared_kv_layers", "ssm.inner_size"})
            readWith(architecture, name, 0U);
        readWith(architecture, "logit_scale", 1.0F);
        readWith(architecture, "attention.scale", 0.0F);
        readWith(architecture, "attention.key_length_swa", 16U);
        readWith(architecture, "pooling_type", 1U);
        readWith(architecture, "rope.scaling.finetuned", true);
        readWith(architecture, "attention.sliding_window", 0U);
    }
    readWith("gemma3", "attn_logit_softcapping", 50.0F);
    readWith("llama", "tensor_data_layout", std::string("Meta AI original pth"));
}

TEST(GgufKeys, WhatBelongsToNothingIsNoted) {
    GgufBytes bytes = smallModel("qwen3");
    bytes.add("general.name", std::string("small"));
    bytes.add("tokenizer.ggml.pre", std::string("qwen2"));
    bytes.add("quantize.imatrix.file", std::string("weights"));
    EXPECT_TRUE(read(bytes).notes.empty());
    bytes.add("qwen2.rope.scaling.factor", 4.0F);
    ASSERT_EQ(read(bytes).notes.size(), 1U);
    EXPECT_NE(read(bytes).notes.front().find("qwen2.rope.scaling.factor"), std::string::npos);
}

TEST(GgufKeys, ATokenizersKeysAreKnown) {
    GgufBytes bytes = smallModel("qwen3");
    bytes.add("tokenizer.ggml.eot_token_id", 3U);
    bytes.add("tokenizer.chat_template", std::string("{{ messages }}"));
    EXPECT_TRUE(read(bytes).notes.empty());
    bytes.add("tokenizer.ggml.fold_case", true);
    expectError(ErrorKind::checkpoint, "the entry tokenizer.ggml.fold_case is unknown", [&] { read(bytes); });
}

TEST(GgufKeys, ScalingsThatAreNotReadAreRefusedByName) {
    const auto refused = [](const std::string& part, const auto& add) {
        GgufBytes bytes = smallModel("qwen3");
        add(bytes);
        expectError(ErrorKind::checkpoint, "the entry qwen3.rope." + part, [&] { read(bytes); });
    };
    const auto with = [](const std::string& type, const std::string& name, float value) {
        return [=](GgufBytes& bytes) {
            if (!type.empty()) bytes.add("qwen3.rope.scaling.type", type);
            bytes.add("qwen3.rope.scaling." + name, value);
        };
    };
    refused("scaling.type is \"su\"", with("su", "factor", 4));
    refused("scaling.factor is 0.5", with("", "factor", 0.5F));
    refused("scaling.attn_factor", with("linear", "attn_factor", 1.5F));
    refused("scaling.attn_factor", with("", "attn_factor", 1.5F));
    refused("scaling.attn_factor", with("none", "attn_factor", 1.5F));
    refused("scaling.yarn_ext_factor", with("yarn", "yarn_ext_factor", 0.5F));
    refused("scaling.yarn_ext_factor", with("linear", "yarn_ext_factor", 1));
    refused("scaling.yarn_attn_factor", with("yarn", "yarn_attn_factor", 1.5F));
    refused("scaling.yarn_log_multiplier", with("linear", "yarn_log_multiplier", 1));
    refused("scaling.yarn_beta_fast is 0.5, below", with("yarn", "yarn_beta_fast", 0.5F));
    refused("scaling.factor", with("longrope", "factor", 4));
}

TEST(GgufKeys, ScoresAreScaledByTheLayersAsInLlamaCpp) {
    for (const auto& [architecture, layers] : {std::pair("gemma2", 46U), std::pair("gemma3", 62U)}) {
        EXPECT_EQ(read(smallModel(architecture)).architecture.score_scale, 0) << architecture;
        EXPECT_DOUBLE_EQ(read(smallModel(architecture, layers)).architecture.score_scale,
                         1 / std::sqrt(32.0));
    }
}

TEST(GgufKeys, Gemma2HasItsWindowAndCapsWithoutEntries) {
    const Architecture model = read(smallModel("gemma2")).architecture;
    EXPECT_EQ(model.window, 4096);
    EXPECT_EQ(model.windowed, (std::vector<bool>{true, false}));
    EXPECT_EQ(model.score_softcap, 50);
    EXPECT_EQ(model.logit_softcap, 30);
}

/// In llama.cpp (src/models/modern-bert.cpp of llama-cpp-python 0.3.36), half the window lies on either side.
TEST(GgufKeys, WindowsOfEncodersAreSymmetric) {
    GgufBytes bytes = smallModel("modern-bert", 5);
    bytes.add("modern-bert.attention.causal", false);
    bytes.add("modern-bert.attention.sliding_window", 8U);
    bytes.add("modern-bert.rope.freq_base", 160000.0F);
    bytes.add("modern-bert.rope.freq_base_swa", 10000.0F);
    Architecture model = read(bytes).architecture;
    EXPECT_EQ(model.window, 5);
    EXPECT_EQ(model.windowed, (std::vector<bool>{false, true, true, false, true}));
    EXPECT_EQ(model.rotationOf(0).base, 160000);
    EXPECT_EQ(model.rotationOf(1).base, 10000);
    EXPECT_EQ(model.activation, Activation::gelu);
    bytes.add("modern-bert.attention.sliding_window_pattern", 2U);
    GgufBytes unknown = bytes;
    unknown.add("modern-bert.hidden_activation", std::string("gelu_new"));
    expectError(ErrorKind::checkpoint, "modern-bert.hidden_activation is \"gelu_new\"",
                [&] { read(unknown); });
    bytes.add("modern-bert.hidden_activation", std::string("silu"));
    model = read(bytes).architecture;
    EXPECT_EQ(model.windowed, (std::vector<bool>{false, true, false, true, false}));
    EXPECT_EQ(model.activation, Activation::silu);
}

TEST(GgufKeys, EncodersAttendToBothSides) {
    for (const char* const architecture : {"modern-bert", "nomic-bert", "eurobert"}) {
        expectRefused(architecture, "attention.causal", true);
        expectError(ErrorKind::checkpoint, "attention.causal must be false",
                    [&] { read(smallModel(architecture)); });
        EXPECT_FALSE(readWith(architecture, "attention.causal", false).architecture.causal);
    }
    const ParsedArchitecture embedding = read(smallModel("gemma-embedding"));
    EXPECT_EQ(embedding.architecture.family, "gemma3_text");
    EXPECT_FALSE(embedding.architecture.causal);
    EXPECT_EQ(embedding.notes, std::vector<std::string>{kNoLossNote});
    EXPECT_TRUE(read(smallModel("gemma3")).architecture.causal);
}

TEST(GgufKeys, ARequiredEntryIsNamed) {
    GgufBytes bytes;
    bytes.add("general.architecture", std::string("llama"));
    expectError(ErrorKind::checkpoint, "the entry llama.vocab_size is missing", [&] { read(bytes); });
}

TEST(GgufKeys, NothingIsGuessedFromAFilesValue) {
    GgufBytes bytes;
    bytes.add("general.architecture", std::string("gemma5"));
    try {
        read(bytes);
        FAIL();
    } catch (const Error& error) {
        const std::string said = error.what();
        EXPECT_EQ(said.find("did you mean"), std::string::npos) << said;
        EXPECT_NE(said.find("the supported families are llama, "), std::string::npos) << said;
    }
}

}  // namespace
}  // namespace roper
