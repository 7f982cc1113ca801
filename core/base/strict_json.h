#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace roper {

/// Limits for a JSON text.
struct JsonLimits {
    int depth = 32;  ///< nesting depth
    /// Number of values. Each takes up to 160 bytes of memory in addition to its text, so a hostile text
    /// takes at most 0.7 GB. The largest tokenizer.json known to us, Gemma 3's with 514,906 merges as pairs,
    /// has 1.9 million values.
    std::size_t values = std::size_t{1} << 22U;
};

/// Parses JSON in linear time and refuses texts that the library (nlohmann) would accept: objects with
/// duplicate keys, nesting so deep that recursion would overflow the stack, and more values than any of our
/// files or of a published model has.
/// @throws std::invalid_argument saying what is wrong and where: line (if there are several) and column
nlohmann::json parseStrictJson(std::string_view text, const JsonLimits& limits = {});

/// The text of a value, on one line unless indented. Invalid UTF-8, which paths and generated texts may
/// contain, is replaced by U+FFFD.
template <class Json>
std::string jsonText(const Json& json, int indent = -1) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// A member of an object as an integer. (The library's own conversion of 4e31 is undefined behavior.)
/// @throws std::invalid_argument "\"step\" must be a whole number up to 100, not 4e31",
/// nlohmann::json::exception
std::int64_t integerMember(const nlohmann::json& object, const std::string& key,
                           std::int64_t max = std::numeric_limits<std::int64_t>::max());

/// A text with NaN, Infinity and -Infinity as strings: Python writes them, but they are not valid
/// JSON.
std::string quoteNonFiniteNumbers(std::string_view text);

}  // namespace roper
