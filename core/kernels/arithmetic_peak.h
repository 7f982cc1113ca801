#pragma once

#include <cstddef>

namespace roper {

/// Does `rounds` rounds of independent multiply-adds in registers with the kernels' instruction set, nothing
/// else: the most that one core can compute. → how many floating-point operations that were
double multiplyAdds(std::size_t rounds);

/// The same of bfloat16, two products each; 0 where the kernels have no instruction for it.
double bfloat16MultiplyAdds(std::size_t rounds);

}  // namespace roper
