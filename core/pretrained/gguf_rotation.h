#pragma once

#include "core/pretrained/family.h"
#include "core/pretrained/gguf_entries.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Tensors that hold factors of frequencies.
inline constexpr const char *kFrequencyFactors = "rope_freqs.weight",
                            *kShortFactors = "rope_factors_short.weight",
                            *kLongFactors = "rope_factors_long.weight";

/// How every layer rotates, after all else of the model is known.
/// @throws Error (checkpoint) naming the file and the entry
void readGgufRotations(const GgufEntries& entries, const GgufRules& rules, Architecture& model);

/// Factors that stand in a file as tensors, by which the frequency of each pair is divided: Llama 3's scaling
/// in rope_freqs, LongRoPE's in rope_factors_short and rope_factors_long.
/// @throws Error (checkpoint) naming the file and what is wrong with the tensor, or missing
void readFrequencyFactors(const TensorStore& store, Architecture& model);

}  // namespace roper
