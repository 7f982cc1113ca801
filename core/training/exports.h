#pragma once

#include <filesystem>
#include <string>

#include "core/runs/run_folder.h"
#include "core/training/model_load_options.h"

namespace roper {

// Shapes: L layers, H heads of d features, T tokens of the text, V tokens of the vocabulary.

/// Writes attention weights of every layer and head for `text` to a .safetensors file ("attention" [L, H, T,
/// T], "tokens" [T]) or a .csv file (layer,head,query,key,weight). @throws Error
void exportAttention(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                     const std::filesystem::path& out);

/// Writes the norms of the pairs of q, k, v and output of every head, means over `text`, to a .safetensors
/// file ("norms" [4, L, H, d/2], "tokens" [T]) or a .csv file (vector,layer,head,pair,norm). @throws Error
void exportNorms(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                 const std::filesystem::path& out);

/// Writes the model's logits for `text` to a .safetensors file ("logits" [T, V], "tokens" [T]). @throws Error
void exportLogits(const RunFolder& folder, const ModelLoadOptions& options, const std::string& text,
                  const std::filesystem::path& out);

/// Writes the weights of a checkpoint, without the data needed only for training, to a .safetensors file.
/// @throws Error
void exportWeights(const RunFolder& folder, const ModelLoadOptions& options,
                   const std::filesystem::path& out);

}  // namespace roper
