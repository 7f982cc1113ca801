#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace roper {

/// A hash for keys that a file names. It depends on a number that each process draws anew, so nobody can
/// write a file whose keys all share a bucket, which would make every look-up as long as the list.
struct KeyedHash {
    std::size_t operator()(std::string_view key) const noexcept;
    std::size_t operator()(std::uint64_t key) const noexcept;
};

}  // namespace roper
