#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The characters of a task, numbered from 0 in the order given.
class Vocabulary {
  public:
    /// @throws std::invalid_argument if a character occurs twice
    explicit Vocabulary(std::string characters);

    int size() const { return static_cast<int>(characters_.size()); }
    const std::string& characters() const { return characters_; }

    /// @throws std::invalid_argument naming the first character that is not in the vocabulary, and its place
    std::vector<std::int64_t> encode(std::string_view text) const;

    /// @throws std::out_of_range for a token that is not in the vocabulary
    char decode(std::int64_t token) const { return characters_.at(static_cast<std::size_t>(token)); }

  private:
    std::string characters_;
    std::array<std::int16_t, 256> token_of_;
};

}  // namespace roper
