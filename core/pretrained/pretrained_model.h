#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/file_path.h"
#include "core/pretrained/architecture.h"
#include "core/pretrained/gguf_file.h"
#include "core/pretrained/model_place.h"
#include "core/pretrained/model_weights.h"

namespace roper {

/// A published model as its files have it: what it computes and where its parameters stand.
struct PretrainedModel {
    std::string name;  ///< of the file or folder
    FilePath path;
    Architecture architecture;
    ModelWeights weights;
    std::shared_ptr<const TensorStore> tensors;
    std::shared_ptr<const GgufMetadata> gguf;  ///< null for a Hugging Face folder
    std::vector<std::string> notes;            ///< about how it was read
};

/// Adds the tensors of a safetensors file that are numbers of F32, F16 or BF16. Others are left out: masks
/// and counters, which programs make themselves, and numbers that are not read here, which the store then
/// names when they are wanted.
/// @throws Error (checkpoint) for what is no such file, naming it; Error (disk)
void addSafetensors(const FilePath& path, TensorStore& store);

/// Opens what `placeOfModel` finds: a GGUF file with all parts of its model, or a Hugging Face folder:
/// config.json, and model.safetensors or the files that model.safetensors.index.json names.
/// @throws Error (checkpoint) saying which file is wrong and why, Error (usage), Error (disk)
PretrainedModel openPretrainedModel(const FilePath& path);

}  // namespace roper
