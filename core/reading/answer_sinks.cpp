#include <ATen/ATen.h>

#include "core/base/error.h"
#include "core/questions/sinks_answer.h"
#include "core/reading/answers.h"

namespace roper {
namespace {

/// Adds the weights that a block of queries puts on sinks and token 0 to the sums of a layer's heads.
/// @param heads    H of them
/// @param first    the first query
/// @param weights  [H, queries, keys]; each row sums to 1 minus the weight of the learned sink
void addShares(SinksOfHead* heads, std::int64_t first, const at::Tensor& weights, bool has_learned_sinks) {
    const std::int64_t skipped = first == 0 ? 1 : 0;  // query 0
    const at::Tensor counted = weights.narrow(1, skipped, weights.size(1) - skipped).to(at::kDouble);
    const at::Tensor first_token = counted.select(2, 0).sum(1);  // [H]
    const at::Tensor sink = (1 - counted.sum(2)).clamp_min(0).sum(1);
    for (std::int64_t head = 0; head < weights.size(0); ++head) {
        heads[head].first_token += first_token[head].item<double>();
        if (has_learned_sinks) heads[head].sink += sink[head].item<double>();
    }
}

SinksAnswer sinksOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    if (context.ids.size() < 2)
        throw Error(ErrorKind::usage, "this question needs a text of at least two tokens");
    SinksAnswer answer{model.has_sinks, {}};
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        for (std::int64_t head = 0; head < model.heads; ++head)
            answer.heads.push_back({layer, head});
    ForwardHooks recorder;
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        addShares(&answer.heads[static_cast<std::size_t>(layer * model.heads)], first, weights,
                  model.has_sinks);
    };
    context.reader.hidden(context.ids, context.change, recorder);
    std::erase_if(answer.heads, [&](const SinksOfHead& head) { return !model.hasHeads(head.layer); });
    const auto queries = static_cast<double>(context.ids.size() - 1);
    for (SinksOfHead& head : answer.heads) {
        head.sink /= queries;
        head.first_token /= queries;
    }
    return answer;
}

/// The learned sink has no column in models without one.
void printSinks(const SinksAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    to.columns(answer.has_learned_sinks ? "layer,head,sink,first_token" : "layer,head,first_token");
    for (const SinksOfHead& head : answer.heads) {
        if (!context.isSelected(head.layer, head.head)) continue;
        std::vector<AnswerWriter::Value> values = {{"layer", head.layer}, {"head", head.head}};
        if (answer.has_learned_sinks) values.push_back({"sink", head.sink, 4});
        values.push_back({"first_token", head.first_token, 4});
        to.record(std::move(values));
    }
}

}  // namespace

AnswerHandler sinksAnswer() {
    return answerHandler(sinksOf, printSinks);
}

}  // namespace roper
