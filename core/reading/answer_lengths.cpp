#include <array>

#include "core/base/text.h"
#include "core/questions/lengths_answer.h"
#include "core/reading/answers.h"
#include "core/reading/model_change.h"

namespace roper {
namespace {

/// First the unscaled frequencies (with the change applied), then linear scaling, NTK and YaRN, all with the
/// same factor.
LengthsAnswer lengthsOf(const QuestionContext& context) {
    context.requireLoss();
    constexpr std::array kMethods = {ScalingMethod::none, ScalingMethod::linear, ScalingMethod::ntk,
                                     ScalingMethod::yarn};
    const double factor = context.question.change.factor,
                 trained = trainedLength(context.question.change, context.model());
    LengthsAnswer answer{factor, static_cast<std::int64_t>(trained), {}};
    for (std::size_t i = 0; i < kMethods.size(); ++i) {
        Intervention changed = context.change;
        changed.scaling = makeScaling(kMethods[i], factor, trained);
        TextPredictions reading = context.reader.read(context.ids, 0, changed,
                                                      {static_cast<std::int64_t>(i), std::ssize(kMethods)});
        answer.variants.push_back(
            {allNames<ScalingMethod>().at(static_cast<std::size_t>(kMethods[i])), std::move(reading.nll)});
        answer.positions = std::move(reading.positions);
    }
    return answer;
}

void printLengths(const LengthsAnswer& answer, const QuestionContext&, AnswerWriter& to) {
    if (to.isJson()) {
        auto by_scaling = nlohmann::ordered_json::object();
        for (const auto& variant : answer.variants)
            by_scaling[variant.scaling] = variant.nll;
        return to.line({{"factor", answer.factor}, {"trained", answer.trained}, {"nll", by_scaling}});
    }
    std::string columns = "position";
    for (const auto& variant : answer.variants)
        columns += "," + variant.scaling;
    to.columns(columns);
    for (std::size_t t = 0; t < answer.variants.front().nll.size(); ++t) {
        std::vector<std::string> row = {std::to_string(answer.positions[t])};
        for (const auto& variant : answer.variants)
            row.push_back(formatRounded(variant.nll[t], 5));
        to.row(row);
    }
}

}  // namespace

AnswerHandler lengthsAnswer() {
    return answerHandler(lengthsOf, printLengths);
}

}  // namespace roper
