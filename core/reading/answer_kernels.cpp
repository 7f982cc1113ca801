#include "core/questions/kernels_answer.h"
#include "core/reading/answers.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

KernelsAnswer kernelsOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    KernelsAnswer answer;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (!model.hasHeads(layer)) {  // zeros, so that head h of every layer has index layer·heads + h
            const Eigen::MatrixXd none = Eigen::MatrixXd::Zero(1, 1);
            answer.kernels.insert(
                answer.kernels.end(), static_cast<std::size_t>(model.heads),
                valueKernel(none, none, {1, Pairing::half, {}}, static_cast<int>(context.count())));
            continue;
        }
        const ValueWeights weights(context.reader.decoder(), layer);
        for (std::int64_t head = 0; head < model.heads; ++head) {
            context.reader.reportProgress(layer * model.heads + head, model.layers * model.heads, "heads");
            answer.kernels.push_back(valueKernel(weights.output(head), weights.value(head),
                                                 weights.rotation(), static_cast<int>(context.count())));
        }
    }
    return answer;
}

void printKernels(const KernelsAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    const std::int64_t heads = context.model().heads;
    to.columns("layer,head,distance,norm,cosine");
    for (std::int64_t i = 0; i < std::ssize(answer.kernels); ++i)
        if (context.isSelected(i / heads, i % heads))
            writeKernel({{"layer", i / heads}, {"head", i % heads}},
                        answer.kernels[static_cast<std::size_t>(i)], to);
}

}  // namespace

AnswerHandler kernelsAnswer() {
    return answerHandler(kernelsOf, printKernels);
}

}  // namespace roper
