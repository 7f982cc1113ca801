#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace roper {

/// How much of a JSON text is read.
struct JsonLimits {
    int depth = 32;  ///< containers around a value
    /// A value takes up to 160 bytes in memory beside its text, so a hostile text takes at most 0.7 GB. The
    /// largest tokenizer.json that we know, Gemma 3's with 514,906 merges as pairs, has 1.9 million values.
    std::size_t values = std::size_t{1} << 22U;
};

/// Parses JSON in time that grows with the length of the text, and refuses what the library would let pass:
/// an object that has a key twice, values nested so deeply that a walk through them would run out of stack,
/// and more values than any file of ours or of a published model holds.
/// @throws std::invalid_argument saying what is wrong, and where: in which line, of several, and column
nlohmann::json parseStrictJson(std::string_view text, const JsonLimits& limits = {});

/// The same text with NaN, Infinity and -Infinity as strings: Python writes them, and they are no JSON.
std::string withQuotedNotANumber(std::string_view text);

}  // namespace roper
