#pragma once

#include <ATen/core/Tensor.h>
#include <functional>

#include "core/rotary/pairing.h"
#include "core/rotary/rotation.h"

namespace roper {

enum class Direction { forward, inverse };  ///< R(m) or R(−m)

/// Source and destination of a rotation of heads: [B, H, T, d] each (B sequences, H heads of d features, T
/// tokens), with arbitrary strides except the last, which is 1.
struct HeadRotation {
    at::Tensor from, to;      ///< of the same type
    at::Tensor cosine, sine;  ///< [T, pairs] (float32); features beyond 2·pairs are copied
};

/// cos mθ_i and sin mθ_i of tokens at positions m: [T, pairs], or [B, 1, pairs] for single tokens. Tables of
/// queries and keys may have cos² + sin² ≠ 1 (YaRN, xPos).
struct CosSin {
    at::Tensor cosine, sine;
};

/// The table of T positions from `first` on, computed in float64 and rounded once: [T, pairs]
CosSin makeCosSinTable(const Rotary& rotary, std::int64_t first, std::int64_t T,
                       const at::TensorOptions& options);

/// Decay factor of each pair at T positions from `first` on: [T, pairs] (float64)
at::Tensor makeDecayTable(
    const std::function<double(int pair, int pairs, double position, bool is_query)>& decay, int pairs,
    std::int64_t first, std::int64_t T, bool is_query);

/// `sinusoidTable` for T positions from `first` on, computed in float64: [T, C]
at::Tensor makeSinusoidTable(std::int64_t first, std::int64_t T, std::int64_t C, double base,
                             const at::TensorOptions& options);

/// R(m)x for every head and position m, differentiable in x; the backward pass rotates by −m, so x need not
/// be saved. Also differentiable in cosine and sine when they depend on trained frequencies. Features beyond
/// the table's pairs are copied.
/// @param x       [B, H, T, d], any strides
/// @param cosine  [T, pairs], or [B, T, pairs] if each sequence has its own positions
/// @param sine    like cosine
/// @return        [B, H, T, d], laid out in memory as [B, T, H, d]
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                  Direction direction = Direction::forward);

/// The same by LibTorch's operations, for every device and type; computed in the table's type. x [..., T, d]
at::Tensor rotateByTensorOps(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine,
                             Pairing pairing, Direction direction);

/// Rotates q, k and v, each by its own angles; on a GPU forward and backward take one pass over memory each.
/// @param qkv  [3, B, H, T, d]
struct RotatedHeads {
    at::Tensor q, k, v;
};
RotatedHeads rotateHeads(const at::Tensor& qkv, const CosSin& queries, const CosSin& keys,
                         const CosSin& values, Pairing pairing);

/// Mean norm of each pair over tokens, first of the `pairs` that rotate; the other features are paired with
/// their neighbors.
/// @param x      [..., T, d]
/// @param first  index of the first rotating feature: 0 or d − 2·pairs
/// @return       [..., d/2]
at::Tensor pairNorms(const at::Tensor& x, Pairing pairing, std::int64_t pairs, std::int64_t first = 0);

}  // namespace roper
