#include "core/questions/question_kind.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/list.h"

namespace roper {

const std::vector<QuestionKind>& questionKinds() {
    using Heads = QuestionKind::Heads;
#define ROW(kind, ...) QuestionKind{.name = #kind, __VA_ARGS__},
    static const std::vector<QuestionKind> kinds = {ROPER_QUESTIONS(ROW)};
#undef ROW
    return kinds;
}

bool QuestionKind::reads(std::string_view setting, bool scales) const {
    static constexpr std::array kOfChange = {
        "ablate",     "mute",  "mute_heads", "no_rotation", "no_value_rotation",
        "no_inverse", "shift", "base",       "scaling"};
    const auto isAmong = [&](const auto& names) {
        return std::find(names.begin(), names.end(), setting) != names.end();
    };
    if (setting == "what") return true;
    if (setting == "text") return reads_text;
    if (setting == "count") return !counted.empty();
    if (setting == "layer" || setting == "head") return heads != Heads::none;
    if (setting == "change_layer" || setting == "change_head" || isAmong(kOfChange)) return can_change;
    if (scales && (setting == "factor" || setting == "original_length")) return can_change;
    return isAmong(own);
}

const QuestionKind& questionKind(std::string_view name) {
    const auto found = std::find_if(questionKinds().begin(), questionKinds().end(),
                                    [&](const QuestionKind& kind) { return kind.name == name; });
    if (found != questionKinds().end()) return *found;
    throw Error(ErrorKind::usage, "no question is called \"" + onOneLine(std::string(name)) +
                                      "\"; there are " + join(questionNames(), ", "));
}

std::vector<std::string> questionNames() {
    std::vector<std::string> names;
    for (const QuestionKind& kind : questionKinds())
        names.push_back(kind.name);
    return names;
}

}  // namespace roper
