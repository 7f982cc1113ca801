#include "core/reading/answer_look.h"

#include <map>
#include <span>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/control/messages.h"
#include "core/reading/model_change.h"

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

/// A question, with what has been read and made ready for its answer.
struct Asked {
    ModelReader& reader;
    const Question& question;
    const Ids ids = {};              ///< of the text, where the kind reads one
    const Intervention change = {};  ///< where the kind can be changed

    std::int64_t count() const { return question.countOrUsual(); }
    HeadChoice head() const { return {question.layer, question.head}; }
    const Architecture& model() const { return reader.model().architecture; }
};

std::string attentionOf(const Asked& a) {
    const auto T = static_cast<std::int64_t>(a.ids.size());
    if (T > kLongestMap)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(T) +
                                          " tokens; a map is sent of at most " + std::to_string(kLongestMap) +
                                          ", `roper-train look` writes larger ones");
    return fileOf(a.reader.attentionOf(a.ids, a.question.layer, a.question.head, a.change), {T, T});
}

std::string thumbnailsOf(const Asked& a) {
    const Thumbnails maps = a.reader.thumbnails(a.ids, a.count(), a.change);
    return fileOf(maps.weights, {a.model().layers, a.model().heads, maps.side, maps.side});
}

std::string generated(const Asked& a) {
    const ContinuationOptions how{a.count(), a.question.temperature,
                                  static_cast<std::uint64_t>(a.question.seed)};
    return formatAnswer(a.reader.generate(a.ids, how, {}, a.change));
}

std::string lengths(const Asked& a) {
    const ModelChange& change = a.question.change;
    return formatAnswer(
        a.reader.lossByLength(a.ids, change.factor, trainedLength(change, a.model()), a.change));
}

std::string needle(const Asked& a) {
    const Question& q = a.question;
    return formatAnswer(a.reader.findNeedle(a.ids, {q.needle, q.question, q.answer}, a.count(), a.change));
}

std::string patch(const Asked& a) {
    const auto by_position = a.question.positions ? std::optional(a.head()) : std::nullopt;
    return formatAnswer(a.reader.patchHeads(a.ids, a.reader.encode(a.question.other), by_position, a.change));
}

std::string heads(const Asked& a) {
    return formatAnswer(a.reader.heads(a.ids, a.change));
}

/// By the name of the kind.
const std::map<std::string, std::string (*)(const Asked&)> kAnswers = {
    {"model", [](const Asked& a) { return formatAnswer(a.reader.summary()); }},
    {"loss", [](const Asked& a) { return formatAnswer(a.reader.read(a.ids, 0, a.change)); }},
    {"logits", [](const Asked& a) { return formatAnswer(a.reader.read(a.ids, a.count(), a.change)); }},
    {"generate", &generated},
    {"heads", &heads},
    {"bands", &heads},
    {"thumbnails", &thumbnailsOf},
    {"attention", &attentionOf},
    {"kernels",
     [](const Asked& a) {
         return formatAnswer(KernelsAnswer{a.reader.valueKernels(static_cast<int>(a.count()))});
     }},
    {"kernel_history",
     [](const Asked& a) {
         return formatAnswer(a.reader.kernelHistory(a.head(), static_cast<int>(a.count())));
     }},
    {"token_map",
     [](const Asked& a) { return formatAnswer(a.reader.tokenMap(a.ids, a.head(), a.question.distance)); }},
    {"subsets",
     [](const Asked& a) { return formatAnswer(a.reader.bandSubsets(a.ids, a.count(), a.change)); }},
    {"lengths", &lengths},
    {"needle", &needle},
    {"lens", [](const Asked& a) { return formatAnswer(a.reader.logitLens(a.ids, a.change)); }},
    {"solve", [](const Asked& a) { return formatAnswer(a.reader.solve(a.count(), a.change)); }},
    {"patch", &patch},
};

}  // namespace

std::string answerLook(ModelReader& reader, const Question& question) {
    const QuestionKind& kind = question.kind();
    const Architecture& model = reader.model().architecture;
    requireHeads({question.layer, question.head}, model);
    return kAnswers.at(kind.name)(
        {reader, question, kind.reads_text ? reader.encode(question.text) : Ids(),
         kind.can_change ? interventionOf(question.change, model) : Intervention()});
}

}  // namespace roper
