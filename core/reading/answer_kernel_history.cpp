#include "core/base/error.h"
#include "core/questions/kernels_answer.h"
#include "core/reading/answers.h"
#include "core/reading/value_weights.h"

namespace roper {
namespace {

KernelHistory historyOf(const QuestionContext& context) {
    const std::vector<TrainedState> states = context.reader.history();
    if (states.empty())
        throw Error(ErrorKind::usage,
                    "only runs have checkpoints; a published model has only its final weights");
    const std::int64_t layer = context.question.layer.value_or(0), head = context.question.head.value_or(0);
    KernelHistory history{layer, head, {}, {}};
    for (std::size_t i = 0; i < states.size(); ++i) {
        context.reader.reportProgress(static_cast<std::int64_t>(i), std::ssize(states), "checkpoints");
        std::optional<Decoder> decoder;
        try {
            decoder.emplace(states[i].open());
        } catch (const Error&) {
            if (i + 1 == states.size()) throw;
            continue;  // removed by the trainer in the meantime
        }
        const ValueWeights weights(*decoder, layer);
        history.steps.push_back(states[i].step);
        history.kernels.push_back(valueKernel(weights.output(head), weights.value(head), weights.rotation(),
                                              static_cast<int>(context.count())));
    }
    return history;
}

void printHistory(const KernelHistory& history, const QuestionContext&, AnswerWriter& to) {
    to.columns("layer,head,step,distance,norm,cosine");
    for (std::size_t i = 0; i < history.steps.size(); ++i)
        writeKernel({{"layer", history.layer}, {"head", history.head}, {"step", history.steps[i]}},
                    history.kernels[i], to);
}

}  // namespace

AnswerHandler kernel_historyAnswer() {
    return answerHandler(historyOf, printHistory);
}

}  // namespace roper
