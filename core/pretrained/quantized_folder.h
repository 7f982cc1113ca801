#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_path.h"
#include "core/pretrained/tensor_store.h"

namespace roper {

/// Whether this member of a config.json describes its quantization, which the functions below read.
bool isQuantizationKey(std::string_view key);

/// Refuses a Hugging Face folder whose tensors are quantized, according to config.json or a file next to it,
/// by an unsupported method.
/// @param config  the text of config.json
/// @throws Error (checkpoint) describing the folder and naming alternatives
void requireSupportedQuantization(const FilePath& folder, std::string_view config);

/// Replaces the parts of quantized matrices, as described by config.json, with these matrices, and adds a
/// note. Does nothing if the folder is not quantized.
/// @throws Error (checkpoint) naming a tensor or a member of the config that is wrong or not supported
void combineQuantizedMatrices(const FilePath& folder, std::string_view config, TensorStore& store,
                              std::vector<std::string>& notes);

}  // namespace roper
