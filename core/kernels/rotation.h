#pragma once

#include <cstddef>

#include "core/rotary/pairing.h"

namespace roper {

/// R(±m)x for the heads of one token, which share the same angles (Su et al. 2021): the rotation of the
/// attention kernel, for code that does not use that kernel.
/// @param from, to      `rows` rows of d numbers each, from_stride and to_stride numbers apart; they may be
/// the same
/// @param cosine, sine  cos mθ_i and sin mθ_i: [pairs]; features beyond 2·pairs are copied
/// @param sign          +1 for R(m), −1 for R(−m)
void rotateRows(const float* from, std::ptrdiff_t from_stride, float* to, std::ptrdiff_t to_stride,
                std::size_t rows, std::size_t d, Pairing pairing, const float* cosine, const float* sine,
                std::size_t pairs, float sign);

}  // namespace roper
