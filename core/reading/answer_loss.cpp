#include <cmath>

#include "core/base/text.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

TextPredictions lossOf(const QuestionContext& context) {
    return context.reader.read(context.ids, 0, context.change);
}

/// −ln p of a token, eight characters wide; a dash for one that is not predicted.
std::string lossColumn(const TextPredictions& read, std::size_t t) {
    const auto index = read.indexOf(t);
    if (!index) return "       –";
    const std::string number = formatFixed(read.nll[*index], 3);
    return std::string(number.size() < 8 ? 8 - number.size() : 0, ' ') + number;
}

void printLoss(const TextPredictions& read, const QuestionContext& context, AnswerWriter& to) {
    context.requireLoss();
    if (to.isJson()) {
        nlohmann::ordered_json line = {{"ids", read.ids}, {"nll", read.nll}, {"loss", read.loss}};
        if (read.masked) line["positions"] = read.positions;
        return to.line(line);
    }
    if (to.isText()) {
        for (std::size_t t = 0; t < read.ids.size(); ++t)
            to.text() << lossColumn(read, t) << "  " << formatToken(read.tokens[t]) << "\n";
        to.text() << "loss " << formatFixed(read.loss, 4) << " nats per token over "
                  << countOf(read.nll.size(), "token") << (read.masked ? ", each masked in turn" : "") << ", "
                  << (read.masked ? "pseudo-perplexity " : "perplexity ")
                  << formatRounded(std::exp(read.loss), 4) << "\n";
        return;
    }
    to.columns("position,id,token,nll");
    for (std::size_t t = 0; t < read.ids.size(); ++t)
        to.row({std::to_string(t), std::to_string(read.ids[t]), tableCell(read.tokens[t]),
                read.indexOf(t) ? formatRounded(read.nll[*read.indexOf(t)], 6) : ""});
}

}  // namespace

AnswerHandler lossAnswer() {
    return answerHandler(lossOf, printLoss);
}

}  // namespace roper
