#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/lens_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

LensAnswer lensOf(const QuestionContext& context) {
    constexpr std::ptrdiff_t kMaxTokens = 1024;
    if (std::ssize(context.ids) > kMaxTokens)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(context.ids.size()) +
                                          " tokens; the logit lens reads at most " +
                                          std::to_string(kMaxTokens));
    LensAnswer answer;
    answer.tokens = context.reader.textsOf(context.ids);
    ForwardHooks recorder;
    recorder.residual = [&](std::int64_t, const at::Tensor& residual) {
        const TextPredictions reading =
            context.reader.predict(context.reader.decoder().finalNorm(residual), context.ids, 1);
        answer.nll.push_back(reading.nll);
        answer.top.emplace_back();
        answer.probability.emplace_back();
        for (const std::vector<Prediction>& next : reading.predictions) {
            answer.top.back().push_back(next.front().token);
            answer.probability.back().push_back(next.front().probability);
        }
    };
    context.reader.hidden(context.ids, context.change, recorder);
    return answer;
}

void printLens(const LensAnswer& answer, const QuestionContext&, AnswerWriter& to) {
    to.columns("layer,position,token,likeliest,probability,nll");
    for (std::size_t i = 0; i < answer.top.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i) - 1;
        if (to.isJson()) {
            to.line({{"layer", layer},
                     {"likeliest", answer.top[i]},
                     {"probability", answer.probability[i]},
                     {"nll", answer.nll[i]}});
            continue;
        }
        for (std::size_t t = 0; t < answer.tokens.size(); ++t)
            to.row({std::to_string(layer), std::to_string(t), tableCell(answer.tokens[t]),
                    tableCell(answer.top[i][t]), formatRounded(answer.probability[i][t], 4),
                    t < answer.nll[i].size() ? formatRounded(answer.nll[i][t], 5) : ""});
    }
}

}  // namespace

AnswerHandler lensAnswer() {
    return answerHandler(lensOf, printLens);
}

}  // namespace roper
