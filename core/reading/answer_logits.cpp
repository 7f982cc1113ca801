#include "core/base/text.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

TextPredictions logitsOf(const QuestionContext& context) {
    return context.reader.read(context.ids, context.count(), context.change);
}

/// A line for each masked token, with the candidates in its place.
void printMasked(const TextPredictions& read, AnswerWriter& to) {
    for (std::size_t i = 0; i < read.positions.size(); ++i) {
        to.text() << formatToken(read.tokens[static_cast<std::size_t>(read.positions[i])]) << " →";
        for (const Prediction& candidate : read.predictions[i])
            to.text() << "  " << formatToken(candidate.token) << " "
                      << formatFixed(100 * candidate.probability, 1) << " %";
        to.text() << "\n";
    }
}

void printLogits(const TextPredictions& read, const QuestionContext&, AnswerWriter& to) {
    if (to.isJson()) {
        auto of_tokens = nlohmann::ordered_json::array();
        for (const auto& candidates : read.predictions) {
            auto list = nlohmann::ordered_json::array();
            for (const Prediction& next : candidates)
                list.push_back({{"id", next.id},
                                {"token", next.token},
                                {"logit", next.logit},
                                {"probability", next.probability}});
            of_tokens.push_back(std::move(list));
        }
        nlohmann::ordered_json line = {
            {"ids", read.ids}, {"tokens", read.tokens}, {"nll", read.nll}, {"predictions", of_tokens}};
        if (read.masked) line["positions"] = read.positions;
        return to.line(line);
    }
    if (to.isText() && read.masked) return printMasked(read, to);
    if (to.isText()) {
        for (const Prediction& next : read.predictions.back())
            to.text() << formatFixed(100 * next.probability, 2) << " %  logit " << formatFixed(next.logit, 3)
                      << "  " << formatToken(next.token) << "\n";
        return;
    }
    to.columns("position,rank,id,token,logit,probability");
    for (std::size_t t = 0; t < read.predictions.size(); ++t)
        for (std::size_t rank = 0; rank < read.predictions[t].size(); ++rank) {
            const Prediction& next = read.predictions[t][rank];
            to.row({std::to_string(read.masked ? read.positions[t] : static_cast<std::int64_t>(t)),
                    std::to_string(rank + 1), std::to_string(next.id), tableCell(next.token),
                    formatRounded(next.logit, 6), formatRounded(next.probability, 5)});
        }
}

}  // namespace

AnswerHandler logitsAnswer() {
    return answerHandler(logitsOf, printLogits);
}

}  // namespace roper
