#include "core/tokenizers/json_members.h"

#include <limits>
#include <stdexcept>

#include "core/base/strict_json.h"
#include "core/base/text.h"
#include "core/tokenizers/pieces.h"

namespace roper {

using Json = nlohmann::json;

const Json& jsonMember(const Json& object, const std::string& key) {
    static const Json kNull;
    if (!object.is_object()) return kNull;
    const auto found = object.find(key);
    return found == object.end() ? kNull : *found;
}

std::int64_t requireInteger(const Json& number) {
    if (!number.is_number_integer() || number > Json(std::numeric_limits<std::int64_t>::max()))
        throw std::invalid_argument(quoteExcerpt(jsonText(number)) + " is given where an id is expected");
    return number.get<std::int64_t>();
}

std::uint64_t countIn(const Json& object, const char* key, std::uint64_t otherwise, std::uint64_t least) {
    const Json& value = jsonMember(object, key);
    if (value.is_null()) return otherwise;
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < least)
        throw std::invalid_argument(std::string(key) + " is " + quoteExcerpt(jsonText(value)) +
                                    ", not a number from " + std::to_string(least));
    return value.get<std::uint64_t>();
}

std::string typeOfPart(const Json& part) {
    return jsonMemberOr<std::string>(part, "type", "");
}

void throwUnsupported(const std::string& what, const std::string& name) {
    throw std::invalid_argument("the " + what + " \"" + toSingleLine(name) + "\" is not supported");
}

void requireKnown(const Json& object, const std::string& what,
                  std::initializer_list<std::string_view> members) {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.items())
        if (!hasElement(members, key)) throwUnsupported("member of " + what, key);
}

Pattern patternIn(const Json& part) {
    const Json& pattern = jsonMember(part, "pattern");
    requireKnown(pattern, "a pattern", {"String", "Regex"});
    if (const Json& text = jsonMember(pattern, "String"); text.is_string()) {
        if (text.get_ref<const std::string&>().empty()) throw std::invalid_argument("a pattern is empty");
        return Pattern::literal(text.get<std::string>());
    }
    return Pattern(jsonMember(pattern, "Regex").get<std::string>());
}

void requireOneCharacter(const std::string& text, const char* what) {
    if (text.empty() || text.size() != characterLength(text.front()))
        throw std::invalid_argument("the " + std::string(what) + " is not one character");
}

}  // namespace roper
