#pragma once

#include <cstddef>
#include <cstdint>

namespace roper {

/// What encoding one text may cost, whatever the tokenizer's file says. It counts work, not time, so a text
/// that is encoded on one machine is encoded on every other.
class EncodingBudget {
  public:
    /// A longer text, in bytes, is more than any model reads at once.
    static constexpr std::size_t kLongestText = 16U << 20U;
    /// The same for its tokens.
    static constexpr std::size_t kMostTokens = 1'000'000;
    /// Bytes that no pre-tokenizer cuts. Merging them takes about 50 times as much memory.
    static constexpr std::size_t kLongestWord = 8U << 20U;
    /// Steps of all patterns, searches and merges together, which take a few seconds. An English text takes
    /// about 40 for each byte, most of them for its merges.
    static constexpr std::uint64_t kMostSteps = 500'000'000;
    /// Merging a word takes as long as so many steps for each of its bytes.
    static constexpr std::uint64_t kStepsToMergeByte = 32;
    /// How many times longer normalizers and pre-tokenizers may make a text. Real ones need up to 13: NFKD
    /// writes the three bytes of U+FDFA as 33, of which three are blanks that then become "▁", three bytes
    /// each. What they put before every text, however short, fits into kRoomOfAnyText.
    static constexpr std::size_t kMostGrowth = 32, kRoomOfAnyText = 4096;
    /// The longest text that they may make, in bytes.
    static constexpr std::size_t kMostRoom = 64U << 20U;

    /// @throws Error (usage) for a text that is longer than kLongestText
    explicit EncodingBudget(std::size_t text_bytes, std::uint64_t most_steps = kMostSteps);

    /// Counts steps. @returns false when the budget does not suffice
    bool spend(std::uint64_t steps) noexcept;
    /// The same. @throws std::invalid_argument
    void require(std::uint64_t steps);
    /// @throws std::invalid_argument if normalizers may not make a text so long
    void requireRoom(std::size_t bytes) const;
    /// Counts the merges of a word. @throws Error (usage) if it is too long; std::invalid_argument
    void requireWord(std::size_t bytes);
    /// @throws Error (usage) for a text of more tokens than kMostTokens
    static void requireTokens(std::size_t count);

    std::uint64_t steps() const { return steps_; }

  private:
    std::size_t text_bytes_, room_;
    std::uint64_t most_steps_, steps_ = 0;
};

}  // namespace roper
