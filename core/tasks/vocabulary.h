#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The tokens of a task, numbered from 0: single characters, or strings of several characters.
class Vocabulary {
  public:
    using Encoder = std::function<std::vector<std::int64_t>(std::string_view)>;

    /// One token per character, in the given order. @throws std::invalid_argument for a duplicate character
    explicit Vocabulary(const std::string& characters);

    /// The text of every token, and a function that encodes text. Concatenating the texts of the encoded
    /// tokens must give the original text.
    Vocabulary(std::vector<std::string> tokens, Encoder encoder);

    int size() const { return static_cast<int>(texts_.size()); }

    /// A string that must equal the one in a checkpoint: the characters themselves, or a fingerprint of the
    /// tokens.
    const std::string& identity() const { return identity_; }

    /// @throws std::invalid_argument naming the first character outside the vocabulary and its position
    std::vector<std::int64_t> encode(std::string_view text) const { return encoder_(text); }

    /// The text of a token. @throws std::out_of_range for a token outside the vocabulary
    const std::string& decode(std::int64_t token) const { return texts_.at(static_cast<std::size_t>(token)); }

    /// The concatenated texts of tokens.
    std::string decode(const std::vector<std::int64_t>& tokens) const;

  private:
    std::vector<std::string> texts_;
    Encoder encoder_;
    std::string identity_;
};

}  // namespace roper
