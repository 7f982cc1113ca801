#pragma once

#include <string>

namespace roper {

/// What Hugging Face's transformers takes for a kind of model where its config.json says nothing, and how its
/// code pairs features, which no config says.
struct ModelDefaults {
    const char* model_type;
    bool interleaved;  ///< neighbouring features make a pair
    int head_dim;      ///< 0: hidden_size / num_attention_heads
    double base;       ///< rope_theta
    double
        local_base;  ///< that of layers with local attention, which are never scaled; 0: all layers are alike
    double rotary_fraction;  ///< partial_rotary_factor
};

/// Of a `model_type`; of one that has nothing of its own: neighbours not paired, base 10000, all features
/// rotate.
const ModelDefaults& modelDefaults(const std::string& model_type);

}  // namespace roper
