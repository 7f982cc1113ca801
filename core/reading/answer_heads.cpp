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
        std::vector<AnswerWriter::Value> values = {{"layer", report.layer},
                                                   {"head", report.head},
                                                   {"label", labelOf(report)},
                                                   {"evidence", evidenceOf(report), 3}};
        for (const auto& [name, measure] : kHeadMeasures)
            values.push_back({name, report.*measure, 4});
        to.record(std::move(values));
    }
}

}  // namespace

AnswerHandler headsAnswer() {
    return answerHandler(observeHeads, printHeads);
}

}  // namespace roper
