#include "core/base/text.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"

namespace roper {
namespace {

void printHeads(const HeadsAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    std::string columns = "layer,head,label,evidence";
    for (const auto& [name, measure] : kHeadMeasures)
        columns += std::string(",") + name;
    to.columns(columns);
    for (const HeadReport& report : answer.heads) {
        if (!context.isSelected(report.layer, report.head)) continue;
        if (to.isJson()) {
            nlohmann::ordered_json line = {{"layer", report.layer},
                                           {"head", report.head},
                                           {"label", labelOf(report)},
                                           {"evidence", evidenceOf(report)}};
            for (const auto& [name, measure] : kHeadMeasures)
                line[name] = report.*measure;
            to.line(line);
            continue;
        }
        std::vector<std::string> row = {std::to_string(report.layer), std::to_string(report.head),
                                        labelOf(report), formatRounded(evidenceOf(report), 3)};
        for (const auto& [name, measure] : kHeadMeasures)
            row.push_back(formatRounded(report.*measure, 4));
        to.row(row);
    }
}

}  // namespace

AnswerHandler headsAnswer() {
    return answerHandler(observeHeads, printHeads);
}

}  // namespace roper
