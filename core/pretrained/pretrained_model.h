#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/pretrained/architecture.h"
#include "core/pretrained/gguf_file.h"
#include "core/pretrained/model_location.h"
#include "core/pretrained/model_weights.h"

namespace roper {

/// A published model on disk: what it computes and where its parameters are stored.
struct PretrainedModel {
    std::string name;  ///< name of the file or folder
    FilePath path;
    Architecture architecture;
    ModelWeights weights;
    std::shared_ptr<const TensorStore> tensors;
    std::shared_ptr<const GgufMetadata> gguf;  ///< null for a Hugging Face folder
    std::vector<std::string> notes;            ///< about how it was read
};

/// Adds the tensors of a safetensors file that are stored as F32, F16, BF16, F8_E4M3 or F8_E5M2. Others are
/// left out: masks and counters, which programs compute themselves, parts of quantized matrices, and
/// unsupported types, which the store names if such a tensor is needed.
/// @throws Error (checkpoint) naming the file if it is not a safetensors file; Error (disk)
void addSafetensors(const FilePath& path, TensorStore& store);

/// Opens the model that `locateModel` finds: a GGUF file with all its parts, or a Hugging Face folder with
/// config.json and either model.safetensors or the files listed in model.safetensors.index.json.
/// @throws Error (checkpoint) saying which file is wrong and why, Error (usage), Error (disk)
PretrainedModel openPretrainedModel(const FilePath& path);

}  // namespace roper
