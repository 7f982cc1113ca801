#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/tokenizers/encoding_budget.h"

namespace roper {

/// Finds which of many texts stand at a place of another text.
class PrefixSearch {
  public:
    PrefixSearch() = default;
    /// @param texts  none empty; they must outlive the search. Of equal texts, the first is found.
    explicit PrefixSearch(const std::vector<std::string_view>& texts);

    /// Calls `visit` with the index and length in bytes of each text that stands at byte `at`, shortest
    /// first.
    /// @param at  below text.size()
    /// @throws std::invalid_argument if the budget is exceeded
    template <class Take>
    void forEachAt(std::string_view text, std::size_t at, EncodingBudget& budget, const Take& visit) const {
        std::span<const Entry> among = beginningWith(text[at]);
        for (std::size_t length = 1; !among.empty(); ++length) {
            budget.require(kStepsToCompareByte);
            if (among.front().text.size() == length) visit(among.front().index, length);
            if (at + length >= text.size()) return;
            among = continuedBy(text[at + length], length, among);
        }
    }

  private:
    /// Comparing one byte with the texts takes as long as this many other steps.
    static constexpr std::uint64_t kStepsToCompareByte = 16;

    struct Entry {
        std::string_view text;
        std::size_t index;
    };
    std::span<const Entry> beginningWith(char byte) const;
    /// The texts whose byte `at` is `byte`, among sorted texts that are equal up to it.
    static std::span<const Entry> continuedBy(char byte, std::size_t at, std::span<const Entry> among);

    struct Range {
        std::size_t first = 0, last = 0;
    };
    std::vector<Entry> sorted_;
    std::array<Range, 256> by_first_byte_{};
};

}  // namespace roper
