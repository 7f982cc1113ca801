#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace roper {

/// A regular expression of a tokenizer, as Hugging Face's tokenizers understand it: over Unicode characters,
/// `\s` the characters of the property White_Space.
class Pattern {
  public:
    /// @throws std::invalid_argument saying what is wrong with it and where
    explicit Pattern(const std::string& expression);

    /// A pattern that matches this text alone.
    static Pattern literal(std::string_view text);

    /// Calls `take` with begin and end, in bytes, of each match in turn, none of them empty.
    /// @param text  UTF-8 (`firstNotUtf8`)
    /// @throws std::invalid_argument for a pattern that takes too long on this text
    void forEachMatch(std::string_view text,
                      const std::function<void(std::size_t begin, std::size_t end)>& take) const;

  private:
    struct Compiled;
    std::shared_ptr<const Compiled> compiled_;
};

}  // namespace roper
