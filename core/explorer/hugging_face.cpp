#include "core/explorer/hugging_face.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/model_config/rotation_reading.h"
#include "core/rotary/scaling.h"

namespace roper {
namespace {

std::string listOf(const Eigen::VectorXd& numbers) {
    return "[" + join(mapped(numbers, formatNumber), ", ") + "]";
}

std::string configOfPhi3() {
    return R"({"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32, "rope_theta": 10000,
        "max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_scaling": {
        "type": "longrope", "short_factor": )" +
           listOf(exampleShortFactors()) + R"(, "long_factor": )" + listOf(exampleLongFactors()) + "}}";
}

std::vector<KnownModel> allModels() {
    return {
        {"Llama 2", R"({"head_dim": 128, "rope_theta": 10000, "max_position_embeddings": 4096})"},
        {"Llama 3.1",
         R"({"head_dim": 128, "rope_theta": 500000, "max_position_embeddings": 131072, "rope_scaling":
        {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
        "original_max_position_embeddings": 8192}})"},
        {"Code Llama", R"({"head_dim": 128, "rope_theta": 1000000, "max_position_embeddings": 16384})"},
        {"Qwen 2.5 with YaRN",
         R"({"head_dim": 128, "rope_theta": 1000000, "max_position_embeddings": 131072, "rope_scaling":
        {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 32768}})"},
        {"Qwen 3 8B",
         R"({"model_type": "qwen3", "num_hidden_layers": 36, "head_dim": 128, "rope_theta": 1000000,
        "max_position_embeddings": 40960})"},
        {"SmolLM 3 3B (every fourth layer does not rotate)",
         R"({"model_type": "smollm3", "num_hidden_layers": 36, "hidden_size": 2048, "num_attention_heads": 16,
        "rope_theta": 5000000, "max_position_embeddings": 65536})"},
        {"gpt-oss 20B (YaRN, not rounded)",
         R"({"model_type": "gpt_oss", "num_hidden_layers": 24, "head_dim": 64, "max_position_embeddings": 131072, "rope_theta": 150000,
        "rope_scaling": {"rope_type": "yarn", "factor": 32, "beta_fast": 32, "beta_slow": 1,
        "truncate": false, "original_max_position_embeddings": 4096}})"},
        {"DeepSeek V3 (YaRN, interleaved)",
         R"({"model_type": "deepseek_v3", "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "max_position_embeddings": 163840,
        "rope_theta": 10000, "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
        "mscale": 1, "mscale_all_dim": 1, "original_max_position_embeddings": 4096}})"},
        {"DeepSeek V4 (values rotate, and back)", R"({"model_type": "deepseek_v4"})"},
        {"Phi-3 vision 128k (LongRoPE)", configOfPhi3()},
        {"Hunyuan dense (alpha)",
         R"({"model_type": "hunyuan_v1_dense", "head_dim": 128, "max_position_embeddings": 32768,
        "rope_theta": 10000, "rope_scaling": {"type": "dynamic", "alpha": 1000}})"},
        {"Gemma 3 4B (global and local layers)",
         R"({"model_type": "gemma3_text", "num_hidden_layers": 34, "head_dim": 256, "max_position_embeddings": 131072,
        "rope_theta": 1000000, "rope_local_base_freq": 10000,
        "rope_scaling": {"rope_type": "linear", "factor": 8}})"},
        {"ModernBERT (global and local layers)",
         R"({"model_type": "modernbert", "hidden_size": 768, "num_attention_heads": 12,
        "max_position_embeddings": 8192, "global_rope_theta": 160000, "local_rope_theta": 10000})"},
        {"Command R (interleaved)",
         R"({"model_type": "cohere", "hidden_size": 8192, "num_attention_heads": 64, "rope_theta": 8000000,
        "max_position_embeddings": 131072})"},
        {"Pythia 160M (a quarter rotates)",
         R"({"model_type": "gpt_neox", "num_hidden_layers": 12, "head_dim": 64, "rotary_pct": 0.25, "rotary_emb_base": 10000,
        "max_position_embeddings": 2048})"},
        {"GPT-J (interleaved, 64 of 256)",
         R"({"model_type": "gptj", "head_dim": 256, "rotary_dim": 64, "max_position_embeddings": 2048})"},
    };
}

/// Adopts how a model treats values; the method of a model that does not rotate them is the user's choice.
void adoptValueRotation(const ParsedRotation& model, Setup& setup) {
    setup.shared_key_value = model.has_shared_key_value;
    setup.mistake = model.values == ValueRotation::rotated ? Mistake::no_inverse : Mistake::none;
    if (model.values == ValueRotation::none) return;
    setup.method = "roper";
    setup.value_rotation_strength = 1;
}

void noteValueRotation(const ParsedRotation& model, std::vector<std::string>& notes) {
    if (model.has_shared_key_value)
        notes.emplace_back("one vector of each token is both key and value, for all heads");
    if (model.values == ValueRotation::rotated)
        notes.emplace_back(
            "values are rotated, and outputs are never rotated back: they depend on absolute positions");
    if (model.values == ValueRotation::rotated_back)
        notes.emplace_back("values are rotated, and outputs are rotated back, as in RoPER");
}

}  // namespace

Setup setupWithRotation(const RotaryConfig& rotary, Setup setup) {
    if (rotary.head_dim % 2 != 0 || rotary.head_dim > bounds::kMaxHeadDim)
        throw Error(ErrorKind::usage, "heads of " + std::to_string(rotary.head_dim) +
                                          " features cannot be shown; only even widths up to " +
                                          std::to_string(bounds::kMaxHeadDim) + " can");
    if (rotary.exponent_width > 0)
        throw Error(ErrorKind::usage, "partial_rotary_factor makes an odd number of features rotate, " +
                                          std::to_string(rotary.exponent_width) + " of " +
                                          std::to_string(rotary.head_dim) +
                                          ", whose frequencies cannot be shown");
    static_cast<RotaryConfig&>(setup) = rotary;
    setup.value_rotary_fraction = rotary.rotary_fraction;
    if (rotary.scaling.method == ScalingMethod::none) {
        setup.scaling = initialScaling();
        setup.scaling.original_length = setup.context_length;
    }
    return sanitized(setup);
}

ParsedConfig readHuggingFaceConfig(std::string_view text, Setup setup) {
    ParsedRotation model = readRotation(text);
    ParsedConfig reading;
    reading.notes = std::move(model.notes);
    if (model.positions > 0) setup.context_length = std::min(model.positions, bounds::kMaxContextLength);
    setup.x = Eigen::VectorXd();
    setup.y = Eigen::VectorXd();
    adoptValueRotation(model, setup);
    for (const RotatedLayers& layers : model.layers) {
        if (layers.rotary.rotatedWidth() == 0 && layers.kind == kNotRotated && model.layers.size() > 1)
            continue;
        reading.kinds.push_back({layers.kind, setupWithRotation(layers.rotary, setup)});
        if (layers.rotary.scaling.method == ScalingMethod::dynamic_ntk)
            reading.notes.emplace_back(
                "dynamic scaling changes nothing up to the trained length; raise the text length L′ to see "
                "it");
    }
    noteValueRotation(model, reading.notes);
    reading.setup = reading.kinds.front().setup;
    if (reading.kinds.size() == 1)
        reading.kinds.clear();
    else
        reading.notes.push_back("the model has several kinds of layers (" +
                                join(mapped(reading.kinds, &LayerTypeSetup::name), ", ") + "); " +
                                reading.kinds.front().name + " is shown");
    return reading;
}

const std::vector<KnownModel>& knownModels() {
    static const std::vector<KnownModel> models = allModels();
    return models;
}

}  // namespace roper
