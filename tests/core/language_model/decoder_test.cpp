#include "core/language_model/decoder.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/file_reading.h"
#include "core/base/safetensors.h"

namespace roper {
namespace {

const std::string kFolder = ROPER_PRETRAINED;

at::Tensor tensorOf(const SafetensorsFile& file, const std::string& name) {
    const SafetensorsFile::Tensor& stored = file.tensor(name);
    const at::ScalarType type = stored.dtype == Dtype::I64 ? at::kLong : at::kFloat;
    return at::from_blob(const_cast<std::byte*>(stored.bytes.data()), stored.shape, type).clone();
}

/// Reference results of transformers for a small model.
struct Expected {
    std::vector<std::int64_t> tokens;
    at::Tensor logits, attention;
};

Expected expectedOf(const std::string& family) {
    const SafetensorsFile file = SafetensorsFile::read(kFolder + "/" + family + "/expected.safetensors",
                                                       SafetensorsFile::kUnlimitedSize);
    const at::Tensor tokens = tensorOf(file, "tokens");
    const auto* const ids = tokens.const_data_ptr<std::int64_t>();
    return {{ids, ids + tokens.numel()}, tensorOf(file, "logits"), tensorOf(file, "attention")};
}

void expectClose(const at::Tensor& got, const at::Tensor& right, double tolerance, const std::string& what) {
    ASSERT_EQ(got.sizes(), right.sizes()) << what;
    EXPECT_LT((got - right).abs().max().item<double>(), tolerance) << what;
}

/// Compares hidden states as a whole: a norm after a head's output that happens to be almost zero amplifies
/// rounding a hundredfold at single tokens, and which ones those are depends on the processor.
void expectSameButForRounding(const at::Tensor& got, const at::Tensor& right, const std::string& what) {
    ASSERT_EQ(got.sizes(), right.sizes()) << what;
    EXPECT_LT(((got - right).norm() / right.norm()).item<double>(), 1e-5) << what;
}

/// Attention weights of every layer, [L, H, T, T].
at::Tensor attentionOf(Decoder& decoder, const std::vector<std::int64_t>& tokens) {
    const auto T = static_cast<std::int64_t>(tokens.size());
    const at::Tensor all = at::zeros({decoder.architecture().layers, decoder.architecture().heads, T, T});
    ForwardHooks recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        all.select(0, layer).narrow(1, first, weights.size(1)).narrow(2, 0, weights.size(2)).copy_(weights);
    };
    decoder.hidden(tokens, {}, recorder);
    return all;
}

std::vector<std::int64_t> layersWithHeads(const Architecture& model) {
    std::vector<std::int64_t> layers;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        if (model.hasHeads(layer)) layers.push_back(layer);
    return layers;
}

void expectAsTransformers(const std::string& file, const std::string& family) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + file));
    const Expected expected = expectedOf(family);
    expectClose(decoder.logits(decoder.hidden(expected.tokens)), expected.logits, 2e-4, file);
    expectClose(attentionOf(decoder, expected.tokens), expected.attention, 1e-5, file);
}

/// GGUF files of encoders have no head.
void expectAsFolderWithoutHead(Decoder& decoder, const std::string& folder) {
    Decoder whole(openPretrainedModel(kFolder + "/" + folder));
    const Expected expected = expectedOf(folder);
    EXPECT_THROW(decoder.head(), std::invalid_argument);
    expectClose(decoder.hidden(expected.tokens), whole.hidden(expected.tokens), 2e-5, folder);
    expectClose(attentionOf(decoder, expected.tokens), expected.attention, 1e-5, folder);
}

/// The small models of `tests/parity/pretrained_reference.py`.
std::vector<std::string> smallModels() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder))
        if (std::filesystem::exists(entry.path() / "expected.safetensors"))
            names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

class DecoderOfModel : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Models, DecoderOfModel, testing::ValuesIn(smallModels()),
                         [](const auto& model) { return model.param; });

TEST(DecoderOfModels, AreOfEveryFamily) {
    std::set<std::string> families;
    for (const std::string& model : smallModels())
        families.insert(openPretrainedModel(kFolder + "/" + model).architecture.family);
    for (const std::string& family : knownFamilies())
        EXPECT_TRUE(families.contains(family)) << family;
}

TEST_P(DecoderOfModel, ComputesAsTransformersDoes) {
    expectAsTransformers(GetParam(), GetParam());
}

/// A hook that receives weights makes the pass compute them; otherwise the kernel of training is used where
/// it can be.
TEST_P(DecoderOfModel, ComputesTheSameWithoutMatricesOfWeights) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + GetParam()));
    std::vector<std::int64_t> tokens = expectedOf(GetParam()).tokens;
    ForwardHooks with_weights;
    with_weights.attention = [](std::int64_t, std::int64_t, const at::Tensor&) {};
    Intervention changed;
    const std::vector<std::int64_t> attending = layersWithHeads(decoder.architecture());
    changed.unrotated = {{attending.front(), 1}};
    changed.ablated_heads = {{attending.back(), 2}};
    for (const std::size_t count : {tokens.size(), std::size_t{1}}) {
        tokens.resize(count);
        for (const Intervention& intervention : {Intervention{}, changed})
            expectClose(decoder.hidden(tokens, intervention),
                        decoder.hidden(tokens, intervention, with_weights), 2e-5, GetParam());
    }
}

/// Patches every head at every position, more than are computed together.
TEST_P(DecoderOfModel, PatchesManyHeadsTogetherAsInTurn) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + GetParam()));
    if (!decoder.canPatchTogether()) GTEST_SKIP() << "its layers need more than the residual stream";
    const std::vector<std::int64_t> tokens = expectedOf(GetParam()).tokens,
                                    other(tokens.rbegin(), tokens.rend());
    std::map<std::int64_t, at::Tensor> outputs;
    std::vector<at::Tensor> residuals;
    ForwardHooks of_other, of_text;
    of_other.heads = [&](std::int64_t layer, at::Tensor& mixed) { outputs[layer] = mixed.clone(); };
    of_text.residual = [&](std::int64_t, const at::Tensor& x) { residuals.push_back(x.clone()); };
    Intervention changed;
    changed.ablated_heads = {{layersWithHeads(decoder.architecture()).front(), 1}};
    decoder.hidden(other, changed, of_other);
    decoder.hidden(tokens, changed, of_text);
    const std::int64_t T = std::ssize(tokens), last_layer = outputs.rbegin()->first;
    std::vector<HeadPatch> patches = {{last_layer, 0, {}, outputs[last_layer].select(0, 0)}};
    for (const auto& [layer, output] : outputs)
        for (std::int64_t head = 0; head < output.size(0); ++head) {
            patches.push_back({layer, head, {}, output.select(0, head)});
            for (std::int64_t position = 0; position < T; ++position)
                patches.push_back({layer, head, position, output.select(0, head)});
        }
    EXPECT_GT(std::ssize(patches) * T, Decoder::kPatchedTokens);
    std::int64_t done = 0, all = 0;
    const at::Tensor together = decoder.lastHiddenPatched(tokens, residuals, patches, changed,
                                                          [&](std::int64_t now, std::int64_t of) {
                                                              EXPECT_GE(now, done);
                                                              done = now;
                                                              all = of;
                                                          });
    EXPECT_EQ(done, all);
    ASSERT_EQ(together.size(0), std::ssize(patches));
    for (std::size_t i = 0; i < patches.size(); i += 7) {
        const HeadPatch& patch = patches[i];
        ForwardHooks hooks;
        hooks.heads = [&](std::int64_t layer, at::Tensor& mixed) {
            if (layer != patch.layer) return;
            const std::int64_t first = patch.position.value_or(0), count = patch.position ? 1 : T;
            mixed.select(0, patch.head).narrow(0, first, count).copy_(patch.output.narrow(0, first, count));
        };
        expectClose(together[static_cast<std::int64_t>(i)], decoder.hidden(tokens, changed, hooks)[T - 1],
                    2e-5, GetParam());
    }
}

/// The files of llama.cpp's converter, which does not write every family.
TEST_P(DecoderOfModel, ReadsTheSameFromGguf) {
    const std::set<std::string> without = {"bitnet",        "codegen",   "deepseek_v32", "deepseek_v4",
                                           "esm",           "falcon_7b", "falcon_rw",    "flex_olmo",
                                           "gemma3n_few",   "gptj",      "helium",       "lfm2_biased",
                                           "longcat_flash", "ministral", "mistral",      "opt",
                                           "opt_350m",      "roformer",  "smolvlm"};
    if (without.count(GetParam()) > 0) GTEST_SKIP() << "no GGUF file of this model is read";
    Decoder decoder(openPretrainedModel(kFolder + "/" + GetParam() + ".gguf"));
    if (decoder.architecture().predicts_masked) return expectAsFolderWithoutHead(decoder, GetParam());
    expectAsTransformers(GetParam() + ".gguf", GetParam());
}

TEST_P(DecoderOfModel, ContinuesFromACache) {
    Decoder decoder(openPretrainedModel(kFolder + "/" + GetParam()));
    const std::vector<std::int64_t> tokens = expectedOf(GetParam()).tokens;
    if (!decoder.architecture().causal) {
        DecoderCache cache;
        EXPECT_THROW(decoder.hidden(tokens, {}, {}, &cache), std::invalid_argument);
        return;
    }
    Intervention changed;
    const std::vector<std::int64_t> attending = layersWithHeads(decoder.architecture());
    changed.unrotated = {{attending.front(), 1}};
    changed.ablated_heads = {{attending.back(), 2}};
    if (decoder.architecture().rotations.front().rotatedWidth() > 0) changed.ablated_pairs = {{{}, {0}}};
    for (const Intervention& intervention : {Intervention{}, changed}) {
        const at::Tensor whole = decoder.hidden(tokens, intervention);
        DecoderCache cache;
        std::vector<at::Tensor> parts;
        for (const auto& [begin, count] :
             std::vector<std::pair<std::size_t, std::size_t>>{{0, 9}, {9, 1}, {10, 1}, {11, 13}})
            parts.push_back(
                decoder.hidden(std::span(tokens).subspan(begin, count), intervention, {}, &cache));
        EXPECT_EQ(cache.tokens(), 24);
        expectSameButForRounding(at::cat(parts), whole, GetParam());
    }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// A copy of a small model whose names of tensors contain other texts.
class RenamedModel {
  public:
    RenamedModel(const std::string& model, const std::vector<std::pair<std::string, std::string>>& names)
        : folder_(testing::TempDir() + "renamed-" + model) {
        std::filesystem::remove_all(folder_);
        std::filesystem::copy(kFolder + "/" + model, folder_);
        const std::filesystem::path path = folder_ / "model.safetensors";
        const std::string file = readFile(path.string());
        std::uint64_t size = 0;
        std::memcpy(&size, file.data(), sizeof size);
        std::string header = file.substr(sizeof size, size);
        const std::string data = file.substr(sizeof size + size);
        for (const auto& [from, to] : names)
            header = replaced(header, from, to);
        header.resize((header.size() + 7) / 8 * 8, ' ');
        std::ofstream out(path, std::ios::binary);
        size = header.size();
        out.write(reinterpret_cast<const char*>(&size), sizeof size);
        out << header << data;
    }
    ~RenamedModel() { std::filesystem::remove_all(folder_); }

    void setConfig(const std::string& text) { std::ofstream(folder_ / "config.json") << text; }

    void expectSameLogits(const std::string& model) {
        Decoder decoder(openPretrainedModel(folder_.string()));
        const Expected expected = expectedOf(model);
        expectClose(decoder.logits(decoder.hidden(expected.tokens)), expected.logits, 2e-4, model);
    }

  private:
    std::filesystem::path folder_;
};

/// Versions of transformers differ in the names of language models' tensors.
TEST(CompositeModel, NamesOfTensorsMayBeginInSeveralWays) {
    RenamedModel("gemma3", {{"\"language_model.model.", "\"model.language_model."},
                            {"\"vision_tower.", "\"model.vision_tower."}})
        .expectSameLogits("gemma3");
    RenamedModel("qwen3_vl", {{"\"model.language_model.", "\"language_model.model."},
                              {"\"lm_head.", "\"language_model.lm_head."},
                              {"\"model.visual.", "\"visual."}})
        .expectSameLogits("qwen3_vl");
}

/// The first configs of Qwen 2 VL have no text_config, and its first files no language_model.
TEST(CompositeModel, MayBeDescribedInTheRoot) {
    using Json = nlohmann::ordered_json;
    RenamedModel model("qwen2_5_vl",
                       {{"\"model.language_model.", "\"model."}, {"\"model.visual.", "\"visual."}});
    Json config = Json::parse(readFile(kFolder + "/qwen2_5_vl/config.json"));
    const Json text = config["text_config"];
    config.erase("text_config");
    for (const auto& [key, value] : text.items())
        if (key != "model_type") config[key] = value;
    model.setConfig(config.dump());
    model.expectSameLogits("qwen2_5_vl");
}

TEST(CompositeModel, SaysWhatItLeavesOut) {
    const PretrainedModel model = openPretrainedModel(kFolder + "/gemma3");
    EXPECT_EQ(model.architecture.composite, "gemma3");
    EXPECT_EQ(model.architecture.family, "gemma3_text");
    EXPECT_TRUE(std::any_of(model.notes.begin(), model.notes.end(), [](const std::string& note) {
        return note.starts_with("this is the language model of a gemma3; its other parts (34 tensors, ");
    })) << testing::PrintToString(model.notes);
}

/// The text_config of google/gemma-3-4b-it, as published; the rest are defaults of Gemma3TextConfig in
/// transformers 5.24.
TEST(CompositeModel, MissingSizesAreTheDefaultsOfTheClass) {
    const ParsedArchitecture reading = readConfigArchitecture(
        R"({"model_type": "gemma3", "boi_token_index": 255999, "mm_tokens_per_image": 256, "text_config":
            {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
             "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
             "sliding_window": 1024}, "vision_config": {"hidden_size": 1152}})");
    const Architecture& model = reading.architecture;
    EXPECT_EQ(model.vocabulary, 262208);
    EXPECT_EQ(model.heads, 8);
    EXPECT_EQ(model.key_value_heads, 4);
    EXPECT_EQ(model.head_dim, 256);
    EXPECT_TRUE(model.tied);
    EXPECT_NE(std::find(reading.notes.begin(), reading.notes.end(),
                        "text_config.num_key_value_heads is missing; the value used is 4"),
              reading.notes.end())
        << testing::PrintToString(reading.notes);
}

/// Which flag counts, and its default, differ between classes of transformers 5.24.
TEST(CompositeModel, TiesItsHeadAsItsClassDoes) {
    const auto is_tied = [](const std::string& type, const std::string& whole, const std::string& text) {
        return readConfigArchitecture("{\"model_type\": \"" + type + "\"" + whole +
                                      ", \"text_config\": {\"model_type\": \"llama\"" + text + "}}")
            .architecture.tied;
    };
    const std::string yes = ", \"tie_word_embeddings\": true", no = ", \"tie_word_embeddings\": false";
    EXPECT_TRUE(is_tied("deepseek_vl", "", no));
    EXPECT_FALSE(is_tied("deepseek_vl", no, yes));
    EXPECT_FALSE(is_tied("smolvlm", "", yes));
    EXPECT_TRUE(is_tied("smolvlm", yes, no));
    EXPECT_TRUE(is_tied("llava", "", yes));
    EXPECT_FALSE(is_tied("llava", no, yes));
    EXPECT_FALSE(is_tied("llava", "", ""));
    EXPECT_TRUE(is_tied("voxtral", no, yes));
}

TEST(CompositeModel, RefusesWhatIsNotRead) {
    const auto refusal = [](const std::string& config) -> std::string {
        try {
            readConfigArchitecture(config);
        } catch (const Error& error) {
            return error.what();
        }
        return "read";
    };
    const std::string text = R"("text_config": {"model_type": "llama", "hidden_size": 64})";
    EXPECT_EQ(refusal(R"({"model_type": "llava", "residual_scale": 2, )" + text + "}"),
              "residual_scale = 2 may change what the model computes and is not supported");
    EXPECT_EQ(refusal(R"({"model_type": "llava", "hidden_size": 2, "image_token_index": 7, )" + text + "}"),
              "read");
    EXPECT_THAT(
        refusal(R"({"model_type": "llava", "text_config": {"model_type": "llama", "logit_scale": 2}})"),
        testing::HasSubstr("text_config.logit_scale = 2 may change"));
    EXPECT_THAT(
        refusal(R"({"model_type": "llava", "text_config": {"model_type": "persimmon"}})"),
        testing::HasSubstr("text_config.model_type \"persimmon\", the language model, is not supported"));
    EXPECT_THAT(refusal(R"({"model_type": "gemma33"})"), testing::HasSubstr("gemma3"));
}

TEST(Decoder, HasNoHeadsInLayersThatDoNotAttend) {
    Decoder decoder(openPretrainedModel(kFolder + "/lfm2"));
    const std::vector<std::int64_t> tokens = expectedOf("lfm2").tokens;
    ASSERT_EQ(layersWithHeads(decoder.architecture()), (std::vector<std::int64_t>{1, 3}));
    Intervention changed;
    changed.ablated_heads = {{0, 1}};
    EXPECT_THROW(decoder.hidden(tokens, changed), std::invalid_argument);
    changed.ablated_heads = {{{}, 1}};  // of all layers
    EXPECT_NO_THROW(decoder.hidden(tokens, changed));
}

/// A text longer than the tokens that a gated delta rule computes at once.
TEST(Decoder, ReadsALongTextAsItReadsItsParts) {
    for (const std::string family : {"qwen3_next", "qwen3_5_text", "lfm2"}) {
        Decoder decoder(openPretrainedModel(kFolder + "/" + family));
        std::vector<std::int64_t> tokens;
        for (std::int64_t t = 0; t < 150; ++t)
            tokens.push_back(t * t % 64);
        DecoderCache cache;
        std::vector<at::Tensor> parts;
        for (std::size_t begin = 0; begin < tokens.size(); begin += 25)
            parts.push_back(decoder.hidden(std::span(tokens).subspan(begin, 25), {}, {}, &cache));
        expectClose(at::cat(parts), decoder.hidden(tokens), 5e-5, family);
    }
}

/// The names of transformers 5's own classes: one tensor for all experts of a layer.
TEST(Decoder, ReadsExpertsThatAreMergedInOneTensor) {
    for (const std::string family : {"mixtral", "granitemoe", "phimoe", "ernie4_5_moe", "deepseek_v4"})
        expectAsTransformers("merged/" + family, family);
}

/// Overwrites every expert that no token takes by NaN, in a copy of the file.
TEST(Decoder, NeverReadsExpertsThatNoTokenTakes) {
    const std::string path = testing::TempDir() + "/experts.gguf";
    std::filesystem::copy_file(kFolder + "/qwen3_moe.gguf", path,
                               std::filesystem::copy_options::overwrite_existing);
    const PretrainedModel model = openPretrainedModel(path);
    std::vector<std::int64_t> tokens = expectedOf("qwen3_moe").tokens;
    tokens.resize(1);
    std::vector<std::set<std::int64_t>> taken(static_cast<std::size_t>(model.architecture.layers));
    ForwardHooks recorder;
    recorder.experts = [&](std::int64_t layer, const ChosenExperts& chosen) {
        EXPECT_EQ(chosen.experts.sizes(), at::IntArrayRef({1, 3}));
        EXPECT_NEAR(chosen.weights.sum().item<double>(), 1, 1e-6);
        for (std::int64_t k = 0; k < 3; ++k)
            taken[static_cast<std::size_t>(layer)].insert(chosen.experts[0][k].item<std::int64_t>());
    };
    Decoder before(model);
    const at::Tensor right = before.hidden(tokens, {}, recorder);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::int64_t layer = 0; layer < model.architecture.layers; ++layer)
        for (const char* const part : {"gate", "up", "down"}) {
            const StoredTensor& tensor =
                model.tensors->tensor("blk." + std::to_string(layer) + ".ffn_" + part + "_exps.weight");
            const std::uint64_t bytes = tensor.bytes() / 6;
            const std::vector<float> nan(bytes / sizeof(float), std::numeric_limits<float>::quiet_NaN());
            ASSERT_EQ(taken[static_cast<std::size_t>(layer)].size(), 3U);
            for (std::uint64_t expert = 0; expert < 6; ++expert) {
                if (taken[static_cast<std::size_t>(layer)].count(static_cast<std::int64_t>(expert)) > 0)
                    continue;
                file.seekp(static_cast<std::streamoff>(tensor.offset + expert * bytes));
                file.write(reinterpret_cast<const char*>(nan.data()), static_cast<std::streamsize>(bytes));
            }
        }
    file.close();
    Decoder after(openPretrainedModel(path));
    expectClose(after.hidden(tokens), right, 1e-12, "without the others");
    EXPECT_THROW(after.hidden(expectedOf("qwen3_moe").tokens), Error) << "other tokens take them";
}

/// Matrices of all tokens take the place of those of experts.
TEST(Decoder, KeepsWhatEveryTokenUsesBeforeExperts) {
    const PretrainedModel model = openPretrainedModel(kFolder + "/mixtral");
    WeightReader reader(model.tensors);
    const BlockWeights& block = model.weights.blocks[0];
    const FeedForwardWeights expert = block.mixture->expert(1);
    const MatrixLocation &of_expert = expert.up.weight, &of_all = block.query.weight;
    reader.setMemoryBudget(
        static_cast<std::uint64_t>(std::max(of_expert.out * of_expert.in, of_all.out * of_all.in)) *
        sizeof(float));
    constexpr auto kExpert = WeightReader::Part::of_expert, kAll = WeightReader::Part::of_all_tokens;
    std::vector<at::Tensor> held;  // so that no address is used twice
    const auto read = [&](const MatrixLocation& place, WeightReader::Part part) {
        held.push_back(reader.matrix(place, part));
        return held.back().const_data_ptr();
    };
    const void* const first = read(of_expert, kExpert);
    const void* const kept = read(of_expert, kExpert);
    EXPECT_NE(kept, first) << "what is read once is not kept";
    EXPECT_EQ(read(of_expert, kExpert), kept);
    read(of_all, kAll);
    const void* const second = read(of_all, kAll);
    EXPECT_EQ(read(of_all, kAll), second);
    EXPECT_NE(read(of_expert, kExpert), kept) << "it made room";
}

TEST(Decoder, ReadsOnlyTheLayersWhoseWeightsAreWanted) {
    Decoder decoder(openPretrainedModel(kFolder + "/qwen3"));
    const std::vector<std::int64_t> tokens = expectedOf("qwen3").tokens;
    const at::Tensor all = attentionOf(decoder, tokens);
    ASSERT_GT(all.size(0), 1);
    for (std::int64_t wanted = 0; wanted < all.size(0); ++wanted) {
        std::vector<std::int64_t> read, received;
        ForwardHooks recorder;
        recorder.progress = [&](std::int64_t layer) { read.push_back(layer); };
        recorder.attention_layer = recorder.last_layer = wanted;
        recorder.attention = [&](std::int64_t layer, std::int64_t, const at::Tensor& weights) {
            received.push_back(layer);
            expectClose(weights, all[layer], 1e-5, "weights of the layer");
        };
        decoder.hidden(tokens, {}, recorder);
        EXPECT_EQ(std::ssize(read), wanted + 1);
        EXPECT_EQ(received, std::vector{wanted});
    }
}

TEST(Decoder, RefusesHeadsThatTheModelLacks) {
    Decoder decoder(openPretrainedModel(kFolder + "/qwen3"));
    const std::vector<std::int64_t> tokens = expectedOf("qwen3").tokens;
    const HeadSelection beyond{.layer = 0, .head = decoder.architecture().heads};
    for (std::vector<HeadSelection> Intervention::*list :
         {&Intervention::ablated_heads, &Intervention::unrotated, &Intervention::unrotated_value_heads,
          &Intervention::uninverted_heads}) {
        Intervention intervention;
        (intervention.*list).push_back(beyond);
        EXPECT_THROW(decoder.hidden(tokens, intervention), std::invalid_argument);
    }
}

/// Cached parameters, vectors among them, are not changed by a pass.
TEST(Decoder, ReadsTheSameFromItsCache) {
    for (const char* const family :
         {"gemma", "qwen3", "gpt2", "stablelm", "mixtral", "gemma3n", "falcon_h1"}) {
        if (!std::filesystem::exists(kFolder + "/" + family)) continue;
        Decoder decoder(openPretrainedModel(kFolder + "/" + family));
        decoder.weights().setMemoryBudget(1 << 26);
        const std::vector<std::int64_t> tokens = expectedOf(family).tokens;
        const at::Tensor right = decoder.hidden(tokens);
        for (int pass = 0; pass < 3; ++pass)
            EXPECT_TRUE(at::equal(decoder.hidden(tokens), right)) << family << ", pass " << pass;
    }
}

/// Products of few rows by rows and parts of a packed tensor, cached or not.
TEST(Decoder, MultipliesByPackedMatricesWithoutDecodingThem) {
    constexpr std::int64_t kColumns = 64, kRows = 24;
    std::vector<std::byte> bytes(kRows * kColumns / 32 * 34);
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<std::byte>(i % 34 == 0 ? i / 34 : i % 34 == 1 ? 0x2C : 37 * i);
    const auto store = std::make_shared<TensorStore>();
    const std::size_t file = store->addBytes("test", bytes);
    store->add("w", {ElementType::Q8_0, {kRows, kColumns}, file, 0});
    const std::vector<MatrixLocation> places = {
        {"w", false, kRows, kColumns},
        {.tensor = "w", .out = 7, .in = kColumns, .rows = {{20, 3}, {2, 4}}},
        {.tensor = "w", .out = 8, .in = kColumns, .index = 2},
    };
    at::manual_seed(4);
    for (const std::uint64_t budget : {0, 1 << 20})
        for (const MatrixLocation& place : places) {
            WeightReader reader(store), decoding(store);
            reader.setMemoryBudget(budget);
            for (const std::int64_t rows : {1, 4, 5}) {
                const at::Tensor x = at::randn({rows, kColumns}),
                                 right = x.matmul(decoding.matrix(place).t());
                for (int repeat = 0; repeat < 2; ++repeat)
                    expectClose(reader.product(x, place), right, 1e-4, std::to_string(rows));
                expectClose(reader.productOfRows(x, place, 2, 4), right.narrow(1, 2, 4), 1e-4,
                            "part of " + std::to_string(rows));
            }
            EXPECT_EQ(reader.product(at::empty({0, kColumns}), place).size(0), 0);
        }
    // As before, a matrix whose stored rows are of another length cannot be multiplied.
    WeightReader reader(store);
    EXPECT_ANY_THROW(reader.product(at::ones({1, 32}), {"w", false, 2 * kRows, 32}));
    EXPECT_ANY_THROW(reader.product(at::ones({1, kColumns}), {"w", false, kRows + 1, kColumns}));
}

TEST(Decoder, WhatIsMutedIsLeftOutOfTheScores) {
    Decoder decoder(openPretrainedModel(kFolder + "/qwen3"));
    const std::vector<std::int64_t> tokens = expectedOf("qwen3").tokens;
    // The scores of layer 0 computed by hand: q and k there do not depend on the ablation.
    LayerView view;
    ForwardHooks recorder;
    recorder.vectors = [&](const LayerView& seen) {
        if (seen.layer == 0)
            view = {.layer = 0,
                    .q = seen.q.clone(),
                    .k = seen.k.clone(),
                    .rotated_q = seen.rotated_q.clone(),
                    .rotated_k = seen.rotated_k.clone()};
    };
    decoder.hidden(tokens, {}, recorder);
    const auto weightsWith = [&](const Intervention& intervention) {
        at::Tensor found;
        ForwardHooks attention;
        attention.attention = [&](std::int64_t layer, std::int64_t, const at::Tensor& weights) {
            if (layer == 0) found = weights.clone();
        };
        decoder.hidden(tokens, intervention, attention);
        return found;
    };
    const at::Tensor future = at::ones({24, 24}, at::kBool).triu(1);
    const auto softmaxOf = [&](const at::Tensor& q, const at::Tensor& k) {
        return at::softmax((at::mm(q, k.t()) / 4).masked_fill(future, -INFINITY), -1);
    };
    Intervention muted;
    muted.ablated_pairs = {{{0, 2}, {1, 7}}};
    at::Tensor q = view.rotated_q[2].clone();
    for (const int feature : {1, 9, 7, 15})
        q.select(1, feature).zero_();
    const at::Tensor whole = weightsWith({}), without = weightsWith(muted);
    expectClose(without[2], softmaxOf(q, view.rotated_k[1]), 1e-6, "two pairs muted");
    expectClose(without[3], whole[3], 1e-7, "other heads as they were");
    EXPECT_GT((without[2] - whole[2]).abs().max().item<double>(), 1e-3);
    Intervention unrotated;
    unrotated.unrotated = {{0, 2}};
    const at::Tensor flat = weightsWith(unrotated);
    expectClose(flat[2], softmaxOf(view.q[2], view.k[1]), 1e-6, "not rotated");
    expectClose(flat[3], whole[3], 1e-6, "its neighbor in the group still is");
}

}  // namespace
}  // namespace roper
