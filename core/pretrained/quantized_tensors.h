#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/pretrained/tensor_store.h"

// Quantized matrices of Hugging Face folders. For each method, a function replaces the tensors that store
// them by the matrices themselves. `members` is the object quantization_config or the like. All throw Error
// (checkpoint) naming a tensor that is missing or does not fit, and Error (usage) naming a member that is not
// supported.

namespace roper {

/// FP8 with one scale for each block of a matrix, or for all of it: DeepSeek V3's weight_scale_inv.
void combineFp8(const nlohmann::json& members, TensorStore& store);

/// NVFP4 in GGUF files that llama.cpp's converter makes from ModelOpt's folders: NAME.scale [1], or
/// [experts], multiplies NAME.weight. NAME.input_scale is for activations, which are not quantized here. Adds
/// a note.
void combineSecondScales(TensorStore& store, std::vector<std::string>& notes);

/// Experts of gpt-oss: NAME_blocks [experts, out, in/32, 16] and NAME_scales [experts, out, in/32] become
/// NAME [experts, in, out], as in the same model stored as BF16.
void combineMxfp4(const nlohmann::json& members, TensorStore& store);

/// The numbers −1, 0 and 1 in two bits, and a scale for each matrix.
void combineBitnet(const nlohmann::json& members, TensorStore& store);

/// Whole numbers in groups, each with a scale and a zero point or bias.
void combineGptq(const nlohmann::json& members, TensorStore& store);
void combineAwq(const nlohmann::json& members, TensorStore& store);
void combineMlx(const nlohmann::json& members, TensorStore& store);

/// NF4 and FP4 in blocks, and eight bits with a scale for each row.
void combineBitsandbytes(const nlohmann::json& members, TensorStore& store);

/// Removes a tensor from which a matrix is combined from the store and returns it.
/// @throws Error (checkpoint) if it is missing or empty
StoredTensor takePart(TensorStore& store, const std::string& name);

/// @throws Error (checkpoint) if such a tensor has another shape
void requireShape(const TensorStore& store, const std::string& name, const StoredTensor& part,
                  const std::vector<std::int64_t>& shape);

/// Types in which scales of floating point are stored.
inline constexpr std::initializer_list<ElementType> kScaleTypes = {ElementType::F16, ElementType::BF16,
                                                                   ElementType::F32};
/// @throws Error (checkpoint) if such a tensor has none of these types
void requireType(const TensorStore& store, const std::string& name, const StoredTensor& part,
                 std::initializer_list<ElementType> types);

/// How many blocks of `size` numbers hold `count` numbers; the last need not be full.
constexpr std::int64_t blocksIn(std::int64_t count, std::int64_t size) {
    return count / size + (count % size == 0 ? 0 : 1);
}

/// @throws Error (usage) naming a member that is none of these
void requireKnownMembers(const nlohmann::json& members, const std::vector<std::string>& known);

/// @throws Error (usage) unless a member is absent, null or one of these values
void requireOneOf(const nlohmann::json& members, const std::string& key,
                  const std::vector<nlohmann::json>& values);

}  // namespace roper
