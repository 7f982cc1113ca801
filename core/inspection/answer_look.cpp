#include "core/inspection/answer_look.h"

#include <span>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/control/messages.h"
#include "core/inspection/model_change.h"

namespace roper {
namespace {

using Ids = std::vector<std::int64_t>;

/// Tokens of the longest text whose map fits into a reply.
constexpr std::int64_t kLongestMap = 4500;
static_assert(kLongestMap * kLongestMap * sizeof(float) < kLargestPayload);

/// One tensor of float32 as a safetensors file.
std::string fileOf(const std::vector<float>& weights, std::vector<std::int64_t> shape) {
    return formatSafetensors({{"weights", Dtype::F32, std::move(shape), std::as_bytes(std::span(weights))}},
                             {});
}

std::string attentionOf(Inspector& inspector, const Question& question, const Ids& ids,
                        const Intervention& change) {
    const auto T = static_cast<std::int64_t>(ids.size());
    if (T > kLongestMap)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(T) +
                                          " tokens; a map is sent of at most " + std::to_string(kLongestMap) +
                                          ", `roper-train look` writes larger ones");
    return fileOf(inspector.attentionOf(ids, question.layer, question.head, change), {T, T});
}

std::string thumbnailsOf(Inspector& inspector, const Question& question, const Ids& ids,
                         const Intervention& change) {
    const Architecture& model = inspector.model().architecture;
    const Thumbnails maps = inspector.thumbnails(ids, question.countOrUsual(), change);
    return fileOf(maps.weights, {model.layers, model.heads, maps.side, maps.side});
}

GeneratedText generated(Inspector& inspector, const Question& question, const Ids& ids,
                        const Intervention& change) {
    return inspector.generate(
        ids, {question.countOrUsual(), question.temperature, static_cast<std::uint64_t>(question.seed)}, {},
        change);
}

}  // namespace

std::string answerLook(Inspector& inspector, const Question& question) {
    if (question.what == QuestionKind::model) return formatAnswer(inspector.summary());
    requireHeads({question.layer, question.head}, inspector.model().architecture);
    if (question.what == QuestionKind::kernels)
        return formatAnswer(KernelsAnswer{inspector.valueKernels(static_cast<int>(question.countOrUsual()))});
    if (question.what == QuestionKind::kernel_history)
        return formatAnswer(inspector.kernelHistory({question.layer, question.head},
                                                    static_cast<int>(question.countOrUsual())));
    const Intervention change = interventionOf(question.change, inspector.model().architecture);
    if (question.what == QuestionKind::solve)
        return formatAnswer(inspector.solve(question.countOrUsual(), change));
    const Ids ids = inspector.encode(question.text);
    switch (question.what) {
        case QuestionKind::loss:
            return formatAnswer(inspector.read(ids, 0, change));
        case QuestionKind::logits:
            return formatAnswer(inspector.read(ids, question.countOrUsual(), change));
        case QuestionKind::heads:
            return formatAnswer(inspector.heads(ids, change));
        case QuestionKind::subsets:
            return formatAnswer(inspector.bandSubsets(ids, question.countOrUsual(), change));
        case QuestionKind::generate:
            return formatAnswer(generated(inspector, question, ids, change));
        case QuestionKind::attention:
            return attentionOf(inspector, question, ids, change);
        case QuestionKind::thumbnails:
            return thumbnailsOf(inspector, question, ids, change);
        case QuestionKind::token_map:
            return formatAnswer(inspector.tokenMap(ids, {question.layer, question.head}, question.distance));
        case QuestionKind::lengths:
            return formatAnswer(inspector.lossByLength(
                ids, question.change.factor, trainedLength(question.change, inspector.model().architecture),
                change));
        case QuestionKind::needle:
            return formatAnswer(inspector.findNeedle(
                ids, {question.needle, question.question, question.answer}, question.countOrUsual(), change));
        case QuestionKind::lens:
            return formatAnswer(inspector.logitLens(ids, change));
        case QuestionKind::patch:
            return formatAnswer(inspector.patchHeads(
                ids, inspector.encode(question.other),
                question.positions ? std::optional(HeadChoice{question.layer, question.head}) : std::nullopt,
                change));
        case QuestionKind::model:
        case QuestionKind::kernels:
        case QuestionKind::kernel_history:
        case QuestionKind::solve:
            break;
    }
    throw Error(ErrorKind::other, "a question without an answer");
}

}  // namespace roper
