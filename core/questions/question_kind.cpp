#include "core/questions/question_kind.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/list.h"
#include "core/questions/question.h"

namespace roper {

const std::vector<QuestionKind>& questionKinds() {
    using Heads = QuestionKind::Heads;
#define ROW(kind, ...) QuestionKind{.name = #kind, __VA_ARGS__},
    static const std::vector<QuestionKind> kinds = {ROPER_QUESTIONS(ROW)};
#undef ROW
    return kinds;
}

bool QuestionKind::isUsedSetting(std::string_view setting, bool scales) const {
    const bool is_scale = setting == "factor" || setting == "original_length";
    if (setting == "what") return true;
    if (setting == "text") return reads_text;
    if (setting == "count") return !count_meaning.empty();
    if (setting == "layer" || setting == "head") return heads != Heads::none;
    if (isChangeSetting(setting) && (scales || !is_scale)) return accepts_changes;
    return hasElement(specific_settings, setting);
}

const QuestionKind& questionKind(std::string_view name) {
    const auto former = formerQuestionNames().find(std::string(name));
    const std::string present = former == formerQuestionNames().end() ? std::string(name) : former->second;
    const auto found = std::ranges::find(questionKinds(), present, &QuestionKind::name);
    if (found != questionKinds().end()) return *found;
    throw Error(ErrorKind::usage, "unknown question \"" + toSingleLine(std::string(name)) +
                                      "\"; expected one of " + join(questionNames(), ", "));
}

std::vector<std::string> questionNames() {
    return mapped(questionKinds(), &QuestionKind::name);
}

const std::map<std::string, std::string>& formerQuestionNames() {
    static const std::map<std::string, std::string> names = [] {
        std::map<std::string, std::string> present;
        for (const QuestionKind& kind : questionKinds())
            if (!kind.former_name.empty()) present.emplace(kind.former_name, kind.name);
        return present;
    }();
    return names;
}

}  // namespace roper
