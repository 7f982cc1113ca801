#pragma once

#include <string_view>

#include "core/base/file_path.h"

namespace roper {

/// Refuses a Hugging Face folder whose tensors are quantized according to config.json or a file next to it.
/// @param config  the text of config.json
/// @throws Error (checkpoint) describing the folder and naming alternatives
void requireNotQuantised(const FilePath& folder, std::string_view config);

}  // namespace roper
