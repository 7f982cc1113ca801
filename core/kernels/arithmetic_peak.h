#pragma once

#include <cstddef>

namespace roper {

/// Executes `rounds` rounds of independent multiply-adds in registers with the kernels' instruction set, to
/// measure the peak performance of one core. @returns the number of floating-point operations
double runMultiplyAdds(std::size_t rounds);

/// The same for bfloat16, whose multiply-add sums two products; 0 if the kernels have no instruction for it.
double runBFloat16MultiplyAdds(std::size_t rounds);

}  // namespace roper
