#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace roper {

/// The tokens of a task, numbered from 0: single characters, or several characters each.
class Vocabulary {
  public:
    using Encoder = std::function<std::vector<std::int64_t>(std::string_view)>;

    /// One token a character, in the order given. @throws std::invalid_argument if one occurs twice
    explicit Vocabulary(const std::string& characters);

    /// The text of every token, and what encodes a text. Texts of tokens one after the other give the text
    /// back.
    Vocabulary(std::vector<std::string> tokens, Encoder encoder);

    int size() const { return static_cast<int>(texts_.size()); }

    /// What a checkpoint must agree with: the characters themselves, or a fingerprint of the tokens.
    const std::string& identity() const { return identity_; }

    /// @throws std::invalid_argument naming the first character that is not in the vocabulary, and its place
    std::vector<std::int64_t> encode(std::string_view text) const { return encoder_(text); }

    /// The text of a token. @throws std::out_of_range for one that is not in the vocabulary
    const std::string& decode(std::int64_t token) const { return texts_.at(static_cast<std::size_t>(token)); }

    /// The texts of tokens, one after the other.
    std::string decode(const std::vector<std::int64_t>& tokens) const;

  private:
    std::vector<std::string> texts_;
    Encoder encoder_;
    std::string identity_;
};

}  // namespace roper
