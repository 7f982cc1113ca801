#pragma once

#include <cstdint>

#include "core/pretrained/tensor_locator.h"

namespace roper {

// Each function finds the tensors of one part of a block, and throws as TensorLocator does.

/// Queries, keys and values, their norms, and the output.
void locateAttention(TensorLocator& in, std::int64_t layer, BlockWeights& block);

/// Multi-head latent attention; its query projection is put into `query`.
LatentWeights locateLatentAttention(TensorLocator& in, std::int64_t layer, LinearLocation& query);

/// What encoders have beside their blocks: token types, and stored frequencies, if any, which replace those
/// of the architecture.
void locateEncoderParts(TensorLocator& in, const TensorStore& store, Architecture& model,
                        ModelWeights& weights);

/// Mixers other than attention (`Mixer`).
ShortConvolutionWeights locateConvolution(TensorLocator& in, std::int64_t layer);
GatedDeltaWeights locateGatedDelta(TensorLocator& in, std::int64_t layer);

/// The tables of `LayerEmbeddings` and the maps of `AlternatingUpdates`.
void locateGemmaTables(TensorLocator& in, ModelWeights& weights);

/// What Gemma 3n and 4 have in a block beside attention and feed-forward.
void locateGemmaParts(TensorLocator& in, std::int64_t layer, BlockWeights& block);

/// Norms and scales of a mixture beside a dense layer (`ExpertMixture::beside_dense`).
MixtureWeights::BesideDense locateBesideDense(TensorLocator& in, std::int64_t layer);

/// A feed-forward layer, or a mixture of experts.
void locateFeedForward(TensorLocator& in, std::int64_t layer, BlockWeights& block);

}  // namespace roper
