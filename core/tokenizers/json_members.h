#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "core/tokenizers/pattern.h"

namespace roper {

// Reading members of a tokenizer.json.

/// The member of an object; null if it is missing.
const nlohmann::json& jsonMember(const nlohmann::json& object, const std::string& key);

/// @throws nlohmann::json::exception for a member of another type
template <class Type>
Type jsonMemberOr(const nlohmann::json& object, const char* key, Type otherwise) {
    const nlohmann::json& value = jsonMember(object, key);
    return value.is_null() ? otherwise : value.get<Type>();
}

/// @throws std::invalid_argument for 1.5, true or 1e300
std::int64_t requireInteger(const nlohmann::json& number);

/// @throws std::invalid_argument for a number out of bounds
std::uint64_t countIn(const nlohmann::json& object, const char* key, std::uint64_t otherwise,
                      std::uint64_t least);

/// The member "type" of a part; empty if it is missing.
std::string typeOfPart(const nlohmann::json& part);

/// @throws std::invalid_argument always
[[noreturn]] void throwUnsupported(const std::string& what, const std::string& name);

/// @throws std::invalid_argument for other members than these, since their effect is unknown, too
void requireKnown(const nlohmann::json& object, const std::string& what,
                  std::initializer_list<std::string_view> members);

/// The member "pattern": a text or a regular expression. @throws std::invalid_argument
Pattern patternIn(const nlohmann::json& part);

/// @throws std::invalid_argument unless the text is one character
void requireOneCharacter(const std::string& text, const char* what);

}  // namespace roper
