#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roper {

/// Codebook of a grid format: `rows` vectors of `width` numbers, selected by an index.
template <std::size_t rows, std::size_t width>
using Grid = std::array<std::array<std::int8_t, width>, rows>;

const Grid<256, 8>& gridOfIQ2_XXS();
const Grid<512, 8>& gridOfIQ2_XS();
const Grid<1024, 8>& gridOfIQ2_S();
const Grid<256, 4>& gridOfIQ3_XXS();
const Grid<512, 4>& gridOfIQ3_S();
const Grid<2048, 8>& gridOfIQ1();  ///< of IQ1_S and IQ1_M

}  // namespace roper
