#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// A normalizer as SentencePiece compiles it ("precompiled_charsmap"): texts and their replacements. The
/// bytes are the length of a trie (32 bits, little-endian), the trie as a double array of Darts-clone
/// (https://github.com/s-yata/darts-clone), and the replacements, each followed by a zero.
class Charsmap {
  public:
    /// @throws std::invalid_argument if the bytes have another form or a replacement is not UTF-8
    explicit Charsmap(std::string_view bytes);

    /// The text normalized as Hugging Face's tokenizers (0.23.3) do: each grapheme cluster of less than 6
    /// bytes is replaced as a whole if it begins with a text of the map, else each of its characters.
    /// @param text  UTF-8
    /// @throws std::invalid_argument if the budget is exceeded
    std::string byGraphemes(std::string_view text, EncodingBudget& budget) const;

    /// The text normalized as SentencePiece does: at each place, the longest text of the map is replaced.
    std::string byLongest(std::string_view text, EncodingBudget& budget) const;

  private:
    struct Found {
        std::size_t length;
        std::string_view replacement;
    };
    enum class Prefix { shortest, longest };
    std::optional<Found> prefixOf(std::string_view text, Prefix which) const;
    std::uint32_t unitAt(std::size_t at) const;

    std::vector<std::uint32_t> trie_;
    std::string replacements_;
};

}  // namespace roper
