#pragma once

#include "core/pretrained/families/list.h"
#include "core/pretrained/family.h"

namespace roper::family {

using enum BiasRule;

#define ROPER_DECLARE(NAME) Family NAME();
ROPER_FAMILIES(ROPER_DECLARE)
#undef ROPER_DECLARE

/// A family with Llama's tensor names and without biases, except in GGUF files those of queries, keys and
/// values, if present: llama.cpp adds them in most architectures.
Family llamaLike(const char* model_type, const char* gguf);

/// Names of Mixtral's mixtures: in published files, and in transformers 5's class.
std::vector<MixtureNames> mixtralNames();

/// Names of Qwen's mixtures: in published files, with a tensor for each expert, and in transformers 5's
/// class, with one for all.
MixtureNames qwenMixtureNames();

/// The same, with the choice bias and the shared experts that DeepSeek V3 introduced.
MixtureNames deepseekMixtureNames();
/// ALiBi: a function for each head that gives −slope·|distance|.
/// @param largest  as in `alibiSlopes`
std::vector<std::function<double(int distance)>> alibiBias(std::int64_t heads, double largest = 8);

}  // namespace roper::family
