#include "core/base/strict_json.h"

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/text.h"

namespace roper {

nlohmann::json parseStrictJson(std::string_view text, int most_depth) {
    using Json = nlohmann::json;
    std::vector<std::set<std::string>> keys;
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > most_depth) throw std::invalid_argument("it is nested too deeply");
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
            throw std::invalid_argument("the key " + quotedBeginning(value.get<std::string>()) +
                                        " occurs twice in one object");
        return true;
    };
    try {
        return Json::parse(text, watch);
    } catch (const Json::exception& error) {
        throw std::invalid_argument(jsonProblem(error.what()));
    }
}

}  // namespace roper
