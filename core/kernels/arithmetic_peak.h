#pragma once

#include <cstddef>

namespace roper {

/// Does `rounds` rounds of independent multiply-adds in registers with the kernels' instruction set, nothing
/// else: the most that one core can compute. → how many floating-point operations that were
double multiplyAdds(std::size_t rounds);

}  // namespace roper
