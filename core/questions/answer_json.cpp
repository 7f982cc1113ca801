#include "core/questions/answer_json.h"

#include <limits>

#include "core/base/error.h"

namespace roper {
namespace {

void nullsToNaN(nlohmann::json& json) {
    if (json.is_null()) json = std::numeric_limits<double>::quiet_NaN();
    if (!json.is_structured()) return;
    for (nlohmann::json& member : json)
        nullsToNaN(member);
}

}  // namespace

nlohmann::json readAnswerJson(std::string_view text) {
    try {
        nlohmann::json parsed = nlohmann::json::parse(text);
        nullsToNaN(parsed);
        return parsed;
    } catch (const nlohmann::json::exception& error) {
        refuseAnswer(error);
    }
}

void refuseAnswer(const nlohmann::json::exception& error) {
    throw Error(ErrorKind::checkpoint,
                std::string("the model's answer cannot be read; another version may have written it: ") +
                    error.what());
}

}  // namespace roper
