#include <ATen/Parallel.h>

#include "core/base/error.h"
#include "core/questions/score_parts.h"
#include "core/reading/answers.h"
#include "core/reading/head_observer.h"

namespace roper {
namespace {

/// @throws Error (usage) if no head has both rotated and unrotated features, if attention is linear or
/// divides the text into chunks, or for a text of one token
void requireParts(const QuestionContext& context, const std::vector<std::int64_t>& rotated_features) {
    const Architecture& model = context.model();
    std::int64_t unrotated = 0, whole = 0;  // layers
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        const std::int64_t rotated = rotated_features[static_cast<std::size_t>(layer)];
        unrotated += rotated == 0 ? 1 : 0;
        whole += rotated == model.headDimOf(layer) ? 1 : 0;
    }
    if (unrotated == model.layers)
        throw Error(ErrorKind::usage,
                    "no feature of this model's heads rotates, so scores have no rotated part");
    if (unrotated + whole == model.layers)
        throw Error(
            ErrorKind::usage,
            whole == model.layers
                ? "every feature of this model's heads rotates, so scores have no unrotated part; --what "
                  "pairs splits scores by pairs"
                : "in each layer of this model, all features of the heads rotate or none does, so no "
                  "score has two parts; --what pairs splits scores by pairs");
    if (model.attention != AttentionKind::softmax)
        throw Error(ErrorKind::usage,
                    "linear attention has no scores q·k under a softmax that could be split");
    if (model.chunked && std::ssize(context.ids) > model.window)
        throw Error(ErrorKind::usage, "this model attends in chunks of " + std::to_string(model.window) +
                                          " tokens: scores can be split only for a text within one chunk");
    if (context.ids.size() < 2)
        throw Error(ErrorKind::usage, "this question needs a text of at least two tokens");
}

ScorePartsAnswer scorePartsOf(const QuestionContext& context) {
    const Architecture& model = context.model();
    const std::int64_t H = model.heads, T = std::ssize(context.ids);
    ScorePartsAnswer answer{
        {}, model.head_dim, std::vector<ScoreParts>(static_cast<std::size_t>(model.layers * H))};
    for (std::int64_t layer = 0; layer < model.layers; ++layer)
        answer.rotated_features.push_back(model.rotationOf(layer).rotatedWidth());
    requireParts(context, answer.rotated_features);
    ForwardHooks recorder;
    recorder.vectors = [&](const LayerView& view) {
        const std::int64_t window = model.isWindowed(view.layer) ? model.window : T,
                           rotated = answer.rotated_features[static_cast<std::size_t>(view.layer)];
        // The rotating features first.
        const std::int64_t moved = model.rotationOf(view.layer).firstRotated() > 0 ? rotated : 0;
        const at::Tensor queries = view.rotated_q.roll({moved}, {-1}),
                         keys = view.rotated_k.roll({moved}, {-1});
        at::parallel_for(0, H, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t head = begin; head < end; ++head) {
                ScoreParts& parts = answer.heads[static_cast<std::size_t>(view.layer * H + head)];
                parts = scoreParts(matrixOf(queries.select(0, head)),
                                   matrixOf(keys.select(0, head * keys.size(0) / H)), rotated,
                                   model.scoreScaleOf(view.layer), window, model.causal);
                parts.layer = view.layer;
                parts.head = head;
            }
        });
    };
    context.reader.hidden(context.ids, context.change, recorder);
    ScorePartsAnswer of_heads{answer.rotated_features, answer.features, {}};
    for (std::int64_t i = 0; i < std::ssize(answer.heads); ++i)
        if (model.hasHeads(i / H)) of_heads.heads.push_back(answer.heads[static_cast<std::size_t>(i)]);
    return of_heads;
}

struct ScorePartsColumn {
    const char* name;
    double ScoreParts::*number;
};
constexpr ScorePartsColumn kScorePartsColumns[] = {
    {"rotated_mean", &ScoreParts::rotated_mean},
    {"unrotated_mean", &ScoreParts::unrotated_mean},
    {"rotated_deviation", &ScoreParts::rotated_deviation},
    {"unrotated_deviation", &ScoreParts::unrotated_deviation},
    {"rotated_share", &ScoreParts::rotated_share},
    {"correlation", &ScoreParts::correlation},
    {"rotated_by_distance", &ScoreParts::rotated_by_distance},
    {"unrotated_by_distance", &ScoreParts::unrotated_by_distance},
    {"rotated_decides", &ScoreParts::rotated_decides},
    {"unrotated_decides", &ScoreParts::unrotated_decides}};

void printScoreParts(const ScorePartsAnswer& answer, const QuestionContext& context, AnswerWriter& to) {
    std::string columns = "layer,head,rotated_features";
    for (const ScorePartsColumn& column : kScorePartsColumns)
        columns += std::string(",") + column.name;
    to.columns(columns);
    for (const ScoreParts& parts : answer.heads) {
        if (!context.isSelected(parts.layer, parts.head)) continue;
        const std::int64_t rotated = answer.rotated_features[static_cast<std::size_t>(parts.layer)];
        std::vector<AnswerWriter::Value> values = {
            {"layer", parts.layer}, {"head", parts.head}, {"rotated_features", rotated}};
        for (const ScorePartsColumn& column : kScorePartsColumns)
            values.push_back({column.name, parts.*column.number, 5});
        to.record(std::move(values));
    }
}

}  // namespace

AnswerHandler score_partsAnswer() {
    return answerHandler(scorePartsOf, printScoreParts);
}

}  // namespace roper
