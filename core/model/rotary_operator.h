#pragma once

#include <ATen/core/Tensor.h>

#include "core/model/turn.h"
#include "core/rotary/rotation.h"

namespace roper {

/// cos mθ_i and sin mθ_i for positions m = 0 … positions − 1, computed in float64 and rounded once.
struct RotaryTable {
    at::Tensor cosine;  ///< [positions, pairs]
    at::Tensor sine;    ///< [positions, pairs]
    Pairing pairing = Pairing::half;
};

RotaryTable makeRotaryTable(const Rotary& rotary, std::int64_t positions, const at::TensorOptions& options);

/// cos mθ_i and sin mθ_i of the tokens of a pass: [T, pairs] or [B, 1, pairs].
struct Turns {
    at::Tensor cosine, sine;
};

/// R(m)x for every head and position, differentiable in x; its backward is the rotation by −m, so nothing of
/// x is kept. Where cosine and sine follow from trained frequencies it is differentiable in them, too.
/// Features beyond the table's pairs pass through.
/// @param x       [B, H, T, d], any strides
/// @param cosine  [T, pairs], or [B, T, pairs] where each sequence has positions of its own
/// @param sine    like cosine
/// @return        [B, H, T, d], laid out in memory as [B, T, H, d]
at::Tensor rotate(const at::Tensor& x, const at::Tensor& cosine, const at::Tensor& sine, Pairing pairing,
                  Turn turn = Turn::forward);

/// The same for q, k and v, queries and keys by one kind of angles and values by another; on a GPU in one
/// pass over memory, back and forth.
/// @param qkv  [3, B, H, T, d]
struct TurnedHeads {
    at::Tensor q, k, v;
};
TurnedHeads rotateHeads(const at::Tensor& qkv, const Turns& query_key, const Turns& value, Pairing pairing);

}  // namespace roper
