#include "core/base/text.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"

namespace roper {
namespace {

constexpr std::array<std::pair<const char*, double HeadReport::*>, 9> kMeasures = {
    {{"entropy", &HeadReport::entropy},
     {"mean_distance", &HeadReport::mean_distance},
     {"first", &HeadReport::first},
     {"self", &HeadReport::self},
     {"previous", &HeadReport::previous},
     {"local", &HeadReport::local},
     {"same", &HeadReport::same},
     {"induction", &HeadReport::induction},
     {"slow_share", &HeadReport::slow_share}}};

void printHeads(const HeadsAnswer& answer, const Asked& asked, AnswerWriter& to) {
    std::string columns = "layer,head,label,evidence";
    for (const auto& [name, measure] : kMeasures)
        columns += std::string(",") + name;
    to.columns(columns);
    for (const HeadReport& report : answer.heads) {
        if (!asked.isWanted(report.layer, report.head)) continue;
        if (to.isJson()) {
            nlohmann::ordered_json line = {{"layer", report.layer},
                                           {"head", report.head},
                                           {"label", labelOf(report)},
                                           {"evidence", evidenceOf(report)}};
            for (const auto& [name, measure] : kMeasures)
                line[name] = report.*measure;
            to.line(line);
            continue;
        }
        std::vector<std::string> row = {std::to_string(report.layer), std::to_string(report.head),
                                        labelOf(report), formatRounded(evidenceOf(report), 3)};
        for (const auto& [name, measure] : kMeasures)
            row.push_back(formatRounded(report.*measure, 4));
        to.row(row);
    }
}

}  // namespace

Answering headsAnswer() {
    return answering(observeHeads, printHeads);
}

}  // namespace roper
