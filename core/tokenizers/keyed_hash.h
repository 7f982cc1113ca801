#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roper {

/// A hash for keys that come from a file. It depends on a random number drawn by each process, so nobody can
/// prepare a file whose keys all fall into one bucket and make every look-up linear.
struct KeyedHash {
    std::size_t operator()(std::string_view key) const noexcept;
    std::size_t operator()(std::uint64_t key) const noexcept;
};

}  // namespace roper
