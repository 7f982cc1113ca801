#pragma once

#include <array>
#include <string>

#include "core/model_config/config_fields.h"

namespace roper {

/// How a composite model, which takes images or sounds besides text, decides whether the head of its
/// language model shares its matrix with the embeddings.
enum class HeadTying {
    tied,      ///< tie_word_embeddings of the whole config, true by default
    untied,    ///< the same, false by default
    as_text,   ///< the same, by default that of the language model's config
    text_only  ///< that of the language model's config; the whole config's has no effect
};

/// A model type of transformers whose config.json describes a language model among other parts.
struct Composite {
    const char* model_type;
    HeadTying tying;
    /// The class of transformers 5.24 leaves out the language model's logit scale, with which the model was
    /// trained (findings/transformers-leaves-out-the-logit-scale-of-aya-vision.sh).
    bool leaves_out_logit_scale = false;
    /// Members that the language model's own class reads, but not this one; null: none.
    std::array<const char*, 2> unread = {};
};

/// The config of a language model.
struct LanguageConfig {
    ConfigFields fields;         ///< the whole config.json or an object in it
    std::string model_type;      ///< of the language model, such as "gemma3_text"
    const Composite* composite;  ///< null if the config describes a language model alone
};

/// The language model's part of a config.json. Old configs of Qwen 2 VL describe it in the root.
/// @throws Error (usage) if the model type is missing or not known
LanguageConfig languageConfigOf(const ConfigFields& whole);

/// Whether the head shares the embeddings' matrix.
/// @param text_default  tie_word_embeddings of the language model's class, if its config does not say
bool isHeadTied(const ConfigFields& whole, const LanguageConfig& language, bool text_default);

/// Whether a member of a composite model's config describes how it takes images or sounds, or how these
/// enter the language model.
bool describesImagesOrSounds(const std::string& key);

}  // namespace roper
