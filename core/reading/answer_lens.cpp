#include "core/base/error.h"
#include "core/base/text.h"
#include "core/questions/lens_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

LensAnswer lensOf(const Asked& asked) {
    constexpr std::ptrdiff_t kLongest = 1024;
    if (std::ssize(asked.ids) > kLongest)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(asked.ids.size()) +
                                          " tokens; what every layer would predict is shown of at most " +
                                          std::to_string(kLongest));
    LensAnswer answer;
    answer.tokens = asked.reader.textsOf(asked.ids);
    PassRecorder recorder;
    recorder.residual = [&](std::int64_t, const at::Tensor& residual) {
        const TextReading reading =
            asked.reader.predict(asked.reader.decoder().finalNorm(residual), asked.ids, 1);
        answer.nll.push_back(reading.nll);
        answer.top.emplace_back();
        answer.probability.emplace_back();
        for (const std::vector<Prediction>& next : reading.predictions) {
            answer.top.back().push_back(next.front().token);
            answer.probability.back().push_back(next.front().probability);
        }
    };
    asked.reader.hidden(asked.ids, asked.change, recorder);
    return answer;
}

void printLens(const LensAnswer& answer, const Asked&, AnswerWriter& to) {
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
            to.row({std::to_string(layer), std::to_string(t), cellOf(answer.tokens[t]),
                    cellOf(answer.top[i][t]), formatRounded(answer.probability[i][t], 4),
                    t < answer.nll[i].size() ? formatRounded(answer.nll[i][t], 5) : ""});
    }
}

}  // namespace

Answering lensAnswer() {
    return answering(lensOf, printLens);
}

}  // namespace roper
