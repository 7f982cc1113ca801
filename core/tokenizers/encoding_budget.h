#pragma once

#include <cstddef>
#include <cstdint>

namespace roper {

/// Limits the cost of encoding one text, whatever the tokenizer's file says. It counts work, not time, so
/// that the result does not depend on the speed of the machine.
class EncodingBudget {
  public:
    /// In bytes; longer than any model reads at once.
    static constexpr std::size_t kMaxTextBytes = 16U << 20U;
    /// Most tokens of one text.
    static constexpr std::size_t kMaxTokens = 1'000'000;
    /// Longest stretch, in bytes, that no pre-tokenizer splits. Merging it takes about 50 times as much
    /// memory.
    static constexpr std::size_t kMaxWordBytes = 8U << 20U;
    /// Total of all patterns, searches and merges, a few seconds. English text takes about 40 steps a byte,
    /// most of them for merges.
    static constexpr std::uint64_t kMaxSteps = 500'000'000;
    /// Merging a word takes as long as this many steps for each of its bytes.
    static constexpr std::uint64_t kStepsToMergeByte = 32;
    /// Largest factor by which normalizers and pre-tokenizers may lengthen a text. Real ones need up to 13:
    /// NFKD turns the three bytes of U+FDFA into 33, three of which are blanks that then become "▁", three
    /// bytes each. kExtraNormalizedBytes is allowed in addition, for prefixes that are added to every text,
    /// however short.
    static constexpr std::size_t kMaxGrowthFactor = 32, kExtraNormalizedBytes = 4096;
    /// Longest text that normalizers may produce, in bytes.
    static constexpr std::size_t kMaxNormalizedBytes = 64U << 20U;

    /// @throws Error (usage) for a text longer than kMaxTextBytes
    explicit EncodingBudget(std::size_t text_bytes, std::uint64_t max_steps = kMaxSteps);

    /// Counts steps. @returns false if the budget is exceeded
    bool spend(std::uint64_t steps) noexcept;
    /// Counts steps. @throws std::invalid_argument if the budget is exceeded
    void require(std::uint64_t steps);
    /// Whether normalizers may produce a text of this length.
    bool outputFits(std::size_t bytes) const noexcept { return bytes <= max_normalized_bytes_; }
    /// @throws std::invalid_argument unless `outputFits`
    void requireOutputFits(std::size_t bytes) const;
    /// Counts the merges of a word. @throws Error (usage) if the word is too long; std::invalid_argument if
    /// the budget is exceeded
    void spendOnWord(std::size_t bytes);
    /// @throws Error (usage) for a text of more tokens than kMaxTokens
    static void requireTokenCount(std::size_t count);

    std::uint64_t steps() const { return steps_; }

  private:
    std::size_t text_bytes_, max_normalized_bytes_;
    std::uint64_t max_steps_, steps_ = 0;
};

}  // namespace roper
