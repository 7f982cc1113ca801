#include "core/base/text.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"

namespace roper {
namespace {

void printPairs(const HeadsAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    to.columns("layer,head,pair,theta,score_share,query_norm,key_norm,value_norm");
    for (const HeadReport& report : answer.heads) {
        if (!context.isSelected(report.layer, report.head)) continue;
        const std::vector<double>& theta = answer.theta[static_cast<std::size_t>(report.layer)];
        if (to.isJson()) {
            const auto numbers = [](const Eigen::VectorXd& of) {
                return std::vector<double>(of.begin(), of.end());
            };
            to.line({{"layer", report.layer},
                     {"head", report.head},
                     {"theta", theta},
                     {"score_share", numbers(report.bands.share)},
                     {"unrotated_share", report.bands.rest},
                     {"score_variance", report.bands.variance},
                     {"query_norm", numbers(report.query_norms)},
                     {"key_norm", numbers(report.key_norms)},
                     {"value_norm", numbers(report.value_norms)}});
            continue;
        }
        for (Eigen::Index pair = 0; pair < report.query_norms.size(); ++pair) {
            const bool rotates = pair < std::ssize(theta);
            to.row({std::to_string(report.layer), std::to_string(report.head), std::to_string(pair),
                    rotates ? formatRounded(theta[static_cast<std::size_t>(pair)], 6) : "",
                    rotates ? formatRounded(report.bands.share[pair], 4) : "",
                    formatRounded(report.query_norms[pair], 5), formatRounded(report.key_norms[pair], 5),
                    formatRounded(report.value_norms[pair], 5)});
        }
    }
}

}  // namespace

AnswerHandler pairsAnswer() {
    return answerHandler(observeHeads, printPairs);
}

}  // namespace roper
