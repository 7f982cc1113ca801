#include <ATen/ATen.h>

#include "core/base/safetensors.h"
#include "core/operators/tensor_data.h"
#include "core/reading/answers.h"
#include "core/reading/model_facts.h"

namespace roper {
namespace {

/// Generates after the text, for a run's problem until it is answered. N tokens with C candidates each:
/// "probability" [N], "top_token" and "top_probability" [N, C], "tokens" [T + N] including the prompt, and
/// "attention" [L, H, N, T + N] of the queries that predicted them: the prompt's last token, and all
/// generated ones except the last.
std::string continuationOf(const QuestionContext& context) {
    constexpr std::int64_t kCandidates = 8;
    requireTextLengthLimit(context);
    const std::int64_t prompt = std::ssize(context.ids);
    requireMapsFitReply(context, context.count(), prompt + context.count());
    const Task* const task = context.reader.task();
    std::string completion;
    const auto receive = [&](std::int64_t id) {
        completion += context.reader.codec().textOf(id);
        return task == nullptr || !task->isComplete(completion);
    };
    const GeneratedText written = context.reader.generate(
        context.ids,
        {context.count(), context.question.temperature, static_cast<std::uint64_t>(context.question.seed)},
        receive);
    const std::int64_t N = std::ssize(written.generated);
    std::vector<std::int64_t> whole = context.ids;
    whole.insert(whole.end(), written.generated.begin(), written.generated.end());
    // The input of the model: all but the last token, which is no query.
    const std::span<const std::int64_t> read(whole.begin(), whole.end() - 1);
    const AttentionMaps maps = computeAttentionMaps(context, read, N);
    const TextPredictions reading =
        context.reader.predict(maps.final_hidden.narrow(0, prompt - 1, N),
                               read.subspan(static_cast<std::size_t>(prompt - 1)), kCandidates);
    std::vector<std::int64_t> top;
    std::vector<double> top_probability;
    for (const std::vector<Prediction>& candidates : reading.predictions)
        for (const Prediction& candidate : candidates) {
            top.push_back(candidate.id);
            top_probability.push_back(candidate.probability);
        }
    Metadata metadata = answerMetadata(context, whole, 0);
    metadata["completion"] = withValidUtf8(written.text);
    metadata["candidate_texts"] = jsonList(context.reader.textsOf(top));
    return serializeTensors({{"attention", at::constant_pad_nd(maps.attention, {0, 1})},
                             {"probability", at::tensor(written.probability)},
                             {"top_probability", at::tensor(top_probability).view({N, -1})},
                             {"top_token", at::tensor(top).view({N, -1})},
                             {"tokens", at::tensor(whole)}},
                            metadata);
}

}  // namespace

AnswerHandler continuationAnswer() {
    return {&continuationOf, {}};
}

}  // namespace roper
