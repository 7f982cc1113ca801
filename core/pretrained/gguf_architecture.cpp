#include <cmath>

#include "core/base/text.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// Entries of one architecture: "llama.block_count".
class Entries {
  public:
    Entries(const GgufMetadata& metadata, std::string prefix)
        : metadata_(metadata), prefix_(std::move(prefix) + ".") {}

    std::string key(const char* name) const { return prefix_ + name; }

    std::int64_t required(const char* name, std::int64_t most) const {
        if (const auto value = metadata_.whole(key(name), 1, most)) return *value;
        metadata_.refuse(key(name), "is missing");
    }
    std::int64_t whole(const char* name, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) const {
        return metadata_.whole(key(name), least, most).value_or(otherwise);
    }
    double number(const char* name, double least, double most, double otherwise) const {
        return metadata_.number(key(name), least, most).value_or(otherwise);
    }
    std::string text(const char* name) const { return metadata_.text(key(name)).value_or(""); }
    [[noreturn]] void refuse(const char* name, const std::string& why) const {
        metadata_.refuse(key(name), why);
    }

  private:
    const GgufMetadata& metadata_;
    std::string prefix_;
};

std::int64_t vocabularySize(const GgufMetadata& metadata, const Entries& entries) {
    if (const auto* const tokens = metadata.texts("tokenizer.ggml.tokens"))
        return static_cast<std::int64_t>(tokens->size());
    return entries.required("vocab_size", kMostVocabulary);
}

Scaling scalingOf(const Entries& entries, std::int64_t context) {
    Scaling scaling;
    const std::string type = entries.text("rope.scaling.type");
    const double factor = entries.number("rope.scaling.factor", 0, 1e4, 1);
    if (type.empty() || type == "none" || factor <= 1) return scaling;
    if (type != "linear" && type != "yarn")
        entries.refuse("rope.scaling.type",
                       "is \"" + onOneLine(type) + "\"; none, linear and yarn are read here");
    scaling.method = type == "linear" ? ScalingMethod::linear : ScalingMethod::yarn;
    scaling.factor = factor;
    scaling.original_length =
        static_cast<double>(entries.whole("rope.scaling.original_context_length", 1, 1 << 30,
                                          static_cast<std::int64_t>(static_cast<double>(context) / factor)));
    return scaling;
}

void readGgufRotations(const Entries& entries, const Family& family, Architecture& model) {
    const auto layers = static_cast<std::size_t>(model.layers);
    LayerRotation rotation;
    if (model.learned_positions) {
        model.rotations = {rotation};
        model.rotation_of_layer.assign(layers, 0);
        return;
    }
    rotation.width =
        static_cast<int>(entries.whole("rope.dimension_count", 0, model.head_dim, model.head_dim));
    if (rotation.width % 2 != 0) entries.refuse("rope.dimension_count", "must be even");
    rotation.base = entries.number("rope.freq_base", 1.0001, 1e15, 10000);
    rotation.scaling = scalingOf(entries, model.context);
    rotation.pairing = family.gguf_interleaves ? Pairing::interleaved : Pairing::half;
    model.rotations = {rotation};
    model.rotation_of_layer.assign(layers, 0);
    if (model.family != "gemma3_text" || model.windowed.empty()) return;
    rotation.base = entries.number("rope.freq_base_swa", 1.0001, 1e15, 10000);
    rotation.scaling = {};
    model.rotations.push_back(rotation);
    for (std::size_t layer = 0; layer < layers; ++layer)
        model.rotation_of_layer[layer] = model.windowed[layer] ? 1 : 0;
}

void readGgufWindow(const Entries& entries, Architecture& model) {
    model.window = entries.whole("attention.sliding_window", 0, 1 << 30, 0);
    if (model.window == 0) return;
    const std::int64_t pattern = model.family == "gemma3_text" ? 6 : model.family == "gemma2" ? 2 : 0;
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        model.windowed.push_back(pattern == 0 || (layer + 1) % pattern != 0);
}

}  // namespace

ArchitectureReading architectureOf(const GgufMetadata& metadata) {
    constexpr const char* kKey = "general.architecture";
    const auto name = metadata.text(kKey);
    if (!name) metadata.refuse(kKey, "is missing");
    const Family* const family = familyOfGguf(*name);
    if (family == nullptr) {
        std::vector<std::string> known;
        for (const Family& one : families())
            if (!one.is_ours) known.emplace_back(one.gguf);
        metadata.refuse(kKey, "is \"" + onOneLine(*name) + "\", a family that is not read here; " +
                                  nameHint(*name, known));
    }
    const Entries entries(metadata, *name);
    ArchitectureReading reading;
    Architecture& model = reading.architecture;
    model.family = family->model_type;
    model.vocabulary = vocabularySize(metadata, entries);
    model.width = entries.required("embedding_length", kMostWidth);
    model.layers = entries.required("block_count", kMostLayers);
    model.heads = entries.required("attention.head_count", kMostHeads);
    model.key_value_heads = entries.whole("attention.head_count_kv", 1, kMostHeads, model.heads);
    if (model.heads % model.key_value_heads != 0)
        entries.refuse("attention.head_count_kv",
                       "must divide attention.head_count, " + std::to_string(model.heads));
    model.feed_forward = entries.required("feed_forward_length", kMostFeedForward);
    model.context = entries.whole("context_length", 1, 1 << 30, 2048);
    model.head_dim = entries.whole("attention.key_length", 1, kMostHeadDim, model.width / model.heads);
    if (entries.whole("attention.value_length", 1, kMostHeadDim, model.head_dim) != model.head_dim)
        entries.refuse("attention.value_length", "differs from attention.key_length, which is not read here");
    family->describe(model);
    model.norm_adds_one = false;  // the converter has added it
    const char* const epsilon =
        model.norm == NormKind::rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
    model.norm_epsilon = entries.number(epsilon, 0, 1, 1e-5);
    if (model.family == "gpt_neox")
        model.parallel = metadata.flag(entries.key("use_parallel_residual")).value_or(true);
    if (model.family == "gemma2") {
        model.score_softcap = entries.number("attn_logit_softcapping", 0, 1e6, 50);
        model.logit_softcap = entries.number("final_logit_softcapping", 0, 1e6, 30);
        // The one of 27 B scales by another width than its heads', which no entry says.
        constexpr std::int64_t kLayersOf27B = 46;
        if (model.layers == kLayersOf27B)
            model.score_scale = 1 / std::sqrt(static_cast<double>(model.width / model.heads));
    }
    readGgufWindow(entries, model);
    readGgufRotations(entries, *family, model);
    return reading;
}

}  // namespace roper
