#include <cmath>

#include "core/questions/copying.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

/// Re Σ λ / Σ |λ| over the eigenvalues λ of a square matrix; Σ λ is its trace.
double copyingScore(const Eigen::MatrixXd& circuit) {
    if (!circuit.allFinite()) return NAN;
    const auto lengths = at::linalg_eigvals(tensorOf(circuit)).abs().sum().item<double>();
    return lengths > 0 ? circuit.trace() / lengths : 0;
}

CopyingAnswer copyingOf(const QuestionContext& context) {
    context.requireLinearHead();
    const Architecture& model = context.model();
    const std::vector<std::int64_t> distinct = context.distinctIds();
    Decoder& decoder = context.reader.decoder();
    const Eigen::MatrixXd unembeddings = matrixOf(decoder.unembeddings(distinct));  // [tokens, C]
    CopyingAnswer answer{context.reader.textsOf(distinct), {}};
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!model.hasHeads(layer)) {
            answer.score.emplace_back(static_cast<std::size_t>(model.heads), NAN);
            continue;
        }
        const ValueWeights weights(decoder, layer);
        const Eigen::MatrixXd X = matrixOf(decoder.normedEmbeddings(distinct, layer));  // [tokens, C]
        std::vector<double>& scores = answer.score.emplace_back();
        for (std::int64_t head = 0; head < model.heads; ++head) {
            context.reader.reportProgress(layer * model.heads + head, model.layers * model.heads, "heads");
            // At distance 0, K(0) = W_O W_V for any rotation of values. The circuit is a product of A [tokens
            // × d] and B [d × tokens]; its nonzero eigenvalues equal those of B A.
            const Eigen::MatrixXd A = unembeddings * weights.output(head),
                                  B = weights.value(head) * X.transpose();
            scores.push_back(A.rows() > A.cols() ? copyingScore(B * A) : copyingScore(A * B));
        }
    }
    return answer;
}

void printCopying(const CopyingAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    writeScores("copying", answer.score, context, to, {{"tokens", answer.tokens}});
}

}  // namespace

AnswerHandler copyingAnswer() {
    return answerHandler(copyingOf, printCopying);
}

}  // namespace roper
