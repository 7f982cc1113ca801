#include <cmath>

#include "core/base/text.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

TextReading lossOf(const QuestionContext& context) {
    return context.reader.read(context.ids, 0, context.change);
}

/// −ln p of a token, eight characters wide; a dash for the first, which is not predicted.
std::string lossColumn(const TextReading& read, std::size_t t) {
    if (t == 0) return "       –";
    const std::string number = formatFixed(read.nll[t - 1], 3);
    return std::string(number.size() < 8 ? 8 - number.size() : 0, ' ') + number;
}

void printLoss(const TextReading& read, const QuestionContext& context, AnswerWriter& to) {
    context.requireLoss();
    if (to.isJson()) return to.line({{"ids", read.ids}, {"nll", read.nll}, {"loss", read.loss}});
    if (to.isText()) {
        for (std::size_t t = 0; t < read.ids.size(); ++t)
            to.text() << lossColumn(read, t) << "  " << formatToken(read.tokens[t]) << "\n";
        to.text() << "loss " << formatFixed(read.loss, 4) << " nats per token over "
                  << countOf(read.nll.size(), "token") << ", perplexity "
                  << formatRounded(std::exp(read.loss), 4) << "\n";
        return;
    }
    to.columns("position,id,token,nll");
    for (std::size_t t = 0; t < read.ids.size(); ++t)
        to.row({std::to_string(t), std::to_string(read.ids[t]), tableCell(read.tokens[t]),
                t == 0 ? "" : formatRounded(read.nll[t - 1], 6)});
}

}  // namespace

AnswerHandler lossAnswer() {
    return answerHandler(lossOf, printLoss);
}

}  // namespace roper
