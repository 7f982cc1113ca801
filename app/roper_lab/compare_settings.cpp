#include "app/roper_lab/compare_settings.h"

#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace roper {
namespace {

/// The place of a word among the choices of a key.
int oneOf(const std::string& key, const std::string& text, const std::vector<std::string>& choices) {
    const auto found = std::find(choices.begin(), choices.end(), text);
    if (found == choices.end())
        throw Error(ErrorKind::usage,
                    key + " must be one of " + join(choices, ", ") + ", not \"" + text + "\"");
    return static_cast<int>(found - choices.begin());
}

struct CompareSetting {
    std::string key, help;
    std::function<void(CompareQuestion&, const std::string&)> set;
};

const std::vector<CompareSetting>& compareSettings() {
    static const std::vector<CompareSetting> all = {
        {"filter", "which runs: words, and comparisons such as \"seed<5\"",
         [](CompareQuestion& q, const std::string& text) { q.filter = QString::fromStdString(text); }},
        {"measure", "final_correct, best_correct, final_loss, training_loss, final_recall, steps_until",
         [](CompareQuestion& q, const std::string& text) {
             q.measure = measureOf(text);
             q.measure_chosen = true;
         }},
        {"share", "percent solved, for steps_until",
         [](CompareQuestion& q, const std::string& text) {
             const auto share = parseInteger(text);
             if (!share || *share < 1 || *share > 100)
                 throw Error(ErrorKind::usage, "share must be a whole number from 1 to 100");
             q.share = static_cast<int>(*share);
         }},
        {"curve", "training_loss, correct, evaluation_loss or recall",
         [](CompareQuestion& q, const std::string& text) {
             q.curve = static_cast<CurveOf>(
                 oneOf("curve", text, {"training_loss", "correct", "evaluation_loss", "recall"}));
             q.curve_chosen = true;
         }},
        {"across", "step, time or tokens",
         [](CompareQuestion& q, const std::string& text) {
             q.across = static_cast<Across>(oneOf("across", text, {"step", "time", "tokens"}));
         }},
        {"spread", "band: range, standard_error or interval",
         [](CompareQuestion& q, const std::string& text) {
             q.spread = static_cast<Spread>(oneOf("spread", text, {"range", "standard_error", "interval"}));
         }},
        {"drop_worst", "true leaves out each group's worst run",
         [](CompareQuestion& q, const std::string& text) {
             q.drop_worst = oneOf("drop_worst", text, {"false", "true"}) == 1;
         }},
        {"final_half", "true shows the second half alone",
         [](CompareQuestion& q, const std::string& text) {
             q.final_half = oneOf("final_half", text, {"false", "true"}) == 1;
         }},
        {"each_run", "true draws every run, too", [](CompareQuestion& q, const std::string& text) {
             q.each_run = oneOf("each_run", text, {"false", "true"}) == 1;
         }}};
    return all;
}

}  // namespace

void setCompareQuestion(CompareQuestion& question,
                        const std::vector<std::pair<std::string, std::string>>& settings) {
    for (const auto& [key, value] : settings) {
        const auto found = std::find_if(compareSettings().begin(), compareSettings().end(),
                                        [&, name = key](const auto& setting) { return setting.key == name; });
        if (found == compareSettings().end())
            throw Error(ErrorKind::usage, "comparisons of runs have no setting \"" + key + "\"");
        found->set(question, value);
    }
}

std::vector<std::pair<std::string, std::string>> compareSettingsHelp() {
    std::vector<std::pair<std::string, std::string>> help;
    for (const CompareSetting& setting : compareSettings())
        help.emplace_back(setting.key, setting.help);
    return help;
}

}  // namespace roper
