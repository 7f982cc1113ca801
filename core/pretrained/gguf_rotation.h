#pragma once

#include <optional>
#include <string>

#include "core/pretrained/family.h"
#include "core/pretrained/gguf_entries.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Names of tensors with frequency factors.
inline constexpr const char *kFrequencyFactors = "rope_freqs.weight",
                            *kShortFactors = "rope_factors_short.weight",
                            *kLongFactors = "rope_factors_long.weight";

/// The factor (0.1·m·ln s + 1)² on all scores of latent attention for the scaling factor s; files contain
/// m/10, where m is mscale_all_dim of transformers' configs.
/// @throws Error (checkpoint) naming the file and the entry
double readGgufScoreFactor(const GgufEntries& entries);

/// Sets how each layer rotates; everything else in `model` must be known.
/// @throws Error (checkpoint) naming the file and the entry
void readGgufRotations(const GgufEntries& entries, const GgufRules& rules, Architecture& model);

/// A note on a scaling factor that the file declares unused; nullopt: there is none. llama.cpp's converter
/// writes such files for scaled models of some families (Cohere).
std::optional<std::string> noteOfUnusedScaling(const GgufEntries& entries);

/// Reads the factors, stored as tensors, that divide the frequency of each pair: Llama 3's scaling in
/// rope_freqs, LongRoPE's in rope_factors_short and rope_factors_long.
/// @throws Error (checkpoint) naming the file and the tensor that is missing or invalid
void readFrequencyFactors(const TensorStore& store, Architecture& model);

}  // namespace roper
