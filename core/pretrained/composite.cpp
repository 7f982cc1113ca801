#include "core/pretrained/composite.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "core/base/text.h"
#include "core/model_config/model_type.h"
#include "core/pretrained/family.h"

namespace roper {
namespace {

/// From the classes of transformers 5.24. For text alone, each computes what its language model computes,
/// except for the logit scale where that is left out.
constexpr Composite kComposites[] = {
    {"aya_vision", HeadTying::tied, true},
    {"cohere2_vision", HeadTying::tied, true},
    {"deepseek_vl", HeadTying::tied},
    {"exaone4_5", HeadTying::untied},
    {"fast_vlm", HeadTying::as_text},
    {"gemma3", HeadTying::tied, false, {"use_bidirectional_attention", "final_logit_softcapping"}},
    {"gemma3n", HeadTying::tied},
    {"gemma4", HeadTying::tied},
    {"glmasr", HeadTying::tied},
    {"got_ocr2", HeadTying::tied},
    {"granite_speech", HeadTying::tied, true},
    {"granite_speech_plus", HeadTying::tied, true},
    {"idefics3", HeadTying::untied},
    {"internvl", HeadTying::tied},
    {"kimi_k25", HeadTying::tied},
    {"lfm2_vl", HeadTying::tied},
    {"lighton_ocr", HeadTying::tied},
    {"llama4", HeadTying::untied},
    {"llava", HeadTying::as_text},
    {"llava_next", HeadTying::untied},
    {"llava_next_video", HeadTying::as_text},
    {"llava_onevision", HeadTying::as_text},
    {"minicpmv4_6", HeadTying::untied},
    {"minicpmv4_7", HeadTying::untied},
    {"mistral3", HeadTying::tied},
    {"qianfan_ocr", HeadTying::untied},
    {"qwen2_5_vl", HeadTying::as_text},
    {"qwen2_audio", HeadTying::text_only},
    {"qwen2_vl", HeadTying::as_text},
    {"qwen3_5", HeadTying::untied},
    {"qwen3_5_moe", HeadTying::untied},
    {"qwen3_vl", HeadTying::untied},
    {"qwen3_vl_moe", HeadTying::untied},
    {"smolvlm", HeadTying::untied},
    {"video_llama_3", HeadTying::as_text},
    {"video_llava", HeadTying::untied},
    {"vipllava", HeadTying::untied},
    {"voxtral", HeadTying::text_only},
};

const Composite* findComposite(const std::string& model_type) {
    const auto found = std::find_if(std::begin(kComposites), std::end(kComposites),
                                    [&](const Composite& one) { return model_type == one.model_type; });
    return found != std::end(kComposites) ? &*found : nullptr;
}

std::vector<std::string> knownModelTypes() {
    std::vector<std::string> known = knownFamilies();
    for (const Composite& composite : kComposites)
        known.emplace_back(composite.model_type);
    return known;
}

bool isSupported(const std::string& model_type) {
    const Family* const family = findFamily(model_type);
    return family != nullptr && !family->trained_here;
}

}  // namespace

LanguageConfig languageConfigOf(const ConfigFields& whole) {
    constexpr const char *kType = "model_type", *kPart = "text_config";
    const auto model_type = whole.text(kType);
    if (!model_type) whole.refuse(kType, "is missing");
    if (isSupported(*model_type)) return {whole, *model_type, nullptr};
    const Composite* const composite = findComposite(*model_type);
    if (composite == nullptr)
        whole.refuse(kType, "\"" + toSingleLine(*model_type) + "\" is not supported; " +
                                nameHint(*model_type, knownModelTypes()));
    const auto part = whole.object(kPart);
    LanguageConfig language{part ? *part : whole, findModelType(*model_type).language_model_type, composite};
    if (part)
        if (const auto own = part->text(kType)) language.model_type = *own;
    if (!isSupported(language.model_type))
        language.fields.refuse(kType, "\"" + toSingleLine(language.model_type) +
                                          "\", the language model, is not supported; " +
                                          nameHint(language.model_type, knownFamilies()));
    return language;
}

bool isHeadTied(const ConfigFields& whole, const LanguageConfig& language, bool text_default) {
    constexpr const char* kTied = "tie_word_embeddings";
    const bool of_text = language.fields.flag(kTied).value_or(text_default);
    if (language.composite == nullptr) return of_text;
    const auto of_whole = whole.flag(kTied);
    switch (language.composite->tying) {
        case HeadTying::tied:
            return of_whole.value_or(true);
        case HeadTying::untied:
            return of_whole.value_or(false);
        case HeadTying::as_text:
            return of_whole.value_or(of_text);
        case HeadTying::text_only:
            break;
    }
    return of_text;
}

bool describesImagesOrSounds(const std::string& key) {
    static const std::set<std::string> kKeys = {"alignment_intermediate_size",
                                                "has_lora_adapter",
                                                "insert_layer_id",
                                                "patch_size",
                                                "pixel_shuffle_factor",
                                                "scale_factor",
                                                "spatial_pool_mode",
                                                "spatial_pool_stride",
                                                "window_size"};
    static const char* const kParts[] = {"image",      "video",   "vision",   "visual",     "audio",
                                         "speech",     "sound",   "acoustic", "projection", "merge",
                                         "downsample", "adapter", "mm_",      "projector",  "multimodal"};
    return kKeys.contains(key) || key.ends_with("_config") || key.ends_with("_index") ||
           key.ends_with("_id") || std::any_of(std::begin(kParts), std::end(kParts), [&](const char* part) {
               return key.find(part) != std::string::npos;
           });
}

}  // namespace roper
