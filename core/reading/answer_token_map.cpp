#include "core/base/text.h"
#include "core/questions/token_map.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

TokenMap tokenMapOf(const QuestionContext& context) {
    context.requireLinearHead();
    const QuestionContext::Head head = context.selectedHead();
    const std::int64_t distance = context.question.distance;
    const std::vector<std::int64_t> distinct = context.distinctIds();
    Decoder& decoder = context.reader.decoder();
    const ValueWeights weights(decoder, head.layer);
    const Eigen::MatrixXd K = kernelAt(weights.output(head.head), weights.value(head.head),
                                       weights.rotation(), static_cast<double>(distance));
    const Eigen::MatrixXd X = matrixOf(decoder.normedEmbeddings(distinct, head.layer)),
                          U = matrixOf(decoder.unembeddings(distinct));
    const Eigen::MatrixXd logits = X * K.transpose() * U.transpose();  // [from, to]
    TokenMap map{head.layer, head.head, distance, context.reader.textsOf(distinct), {}};
    for (Eigen::Index row = 0; row < logits.rows(); ++row)
        map.logits.emplace_back(logits.row(row).begin(), logits.row(row).end());
    return map;
}

void printTokenMap(const TokenMap& map, const QuestionContext&, AnswerWriter& to) {
    if (to.isJson())
        return to.line({{"layer", map.layer},
                        {"head", map.head},
                        {"distance", map.distance},
                        {"tokens", map.tokens},
                        {"logits", map.logits}});
    to.columns("from,to,logit");
    for (std::size_t from = 0; from < map.tokens.size(); ++from)
        for (std::size_t into = 0; into < map.tokens.size(); ++into)
            to.row({tableCell(map.tokens[from]), tableCell(map.tokens[into]),
                    formatRounded(map.logits[from][into], 5)});
}

}  // namespace

AnswerHandler token_mapAnswer() {
    return answerHandler(tokenMapOf, printTokenMap);
}

}  // namespace roper
