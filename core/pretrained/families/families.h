#pragma once

#include "core/pretrained/families/list.h"
#include "core/pretrained/family.h"

namespace roper::family {

using enum BiasRule;

#define ROPER_DECLARE(NAME) Family NAME();
ROPER_FAMILIES(ROPER_DECLARE)
#undef ROPER_DECLARE

/// A family with Llama's tensor names and no biases, except those of queries, keys and values that a GGUF
/// file has: llama.cpp adds them in most architectures.
Family llamaLike(const char* model_type, const char* gguf);

/// Mixtral's names of mixtures in published files, and those of transformers 5's own class.
std::vector<MixtureNames> mixtralNames();

/// Qwen's names of mixtures in published files, with a tensor for each expert, and in transformers 5's own
/// class, with one for all.
MixtureNames qwenMixtureNames();

/// The same, and those of a bias of choices and of shared experts, which began with DeepSeek V3.
MixtureNames deepseekMixtureNames();
/// ALiBi: a function for each head that gives −slope·|distance|.
/// @param largest  as in `alibiSlopes`
std::vector<std::function<double(int distance)>> alibiBias(std::int64_t heads, double largest = 8);

}  // namespace roper::family
