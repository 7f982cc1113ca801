#pragma once

#include <string_view>

#include "core/base/file_path.h"

namespace roper {

/// Refuses a Hugging Face folder whose tensors are quantised, as its config.json says, or a file beside it.
/// @param config  the text of config.json
/// @throws Error (checkpoint) saying what the folder is and what to use in its place
void requireNotQuantised(const FilePath& folder, std::string_view config);

}  // namespace roper
