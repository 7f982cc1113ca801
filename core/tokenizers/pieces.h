#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizers/keyed_hash.h"

namespace roper {

/// The text of each id as a tokenizer's vocabulary writes it; empty for an unused id. Of ids with the same
/// text, the last is found, as in other libraries.
class Pieces {
  public:
    explicit Pieces(std::vector<std::string> texts);
    Pieces(Pieces&&) = default;
    Pieces& operator=(Pieces&&) = default;

    std::optional<std::int32_t> idOf(std::string_view text) const;
    const std::vector<std::string>& texts() const { return texts_; }

    /// Appends the ids of a text's bytes, the pieces <0x00> … <0xFF>. @returns false, and appends nothing, if
    /// the vocabulary lacks one of them
    template <class Id>
    bool appendBytes(std::string_view text, std::vector<Id>& ids) const {
        for (const char byte : text)
            if (bytes_[static_cast<unsigned char>(byte)] < 0) return false;
        for (const char byte : text)
            ids.push_back(bytes_[static_cast<unsigned char>(byte)]);
        return true;
    }

  private:
    std::vector<std::string> texts_;
    /// Views into texts_, whose buffers never move.
    std::unordered_map<std::string_view, std::int32_t, KeyedHash> ids_;
    std::vector<std::int32_t> bytes_;  ///< 256 ids, −1 where the vocabulary has no such piece
};

/// The byte of a piece such as <0x0A>; nothing for any other piece.
std::optional<char> byteOfPiece(std::string_view piece);

/// Length in bytes of the UTF-8 character with this first byte; 1 for an invalid first byte.
std::size_t characterLength(char first);

}  // namespace roper
