#include "core/reading/model_facts.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/control/messages.h"
#include "core/rotary/position_bias.h"

namespace roper {
std::string jsonList(const std::vector<std::string>& texts) {
    return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool isUsualAlibi(const Architecture& model) {
    for (std::size_t head = 0; head < model.head_bias.size(); ++head)
        if (model.head_bias[head](1) !=
            -alibiSlope(static_cast<int>(head) + 1, static_cast<int>(model.heads)))
            return false;
    return !model.head_bias.empty();
}

Metadata answerMetadata(const QuestionContext& context, std::span<const std::int64_t> ids,
                        std::int64_t layer) {
    const Architecture& model = context.model();
    const RotaryConfig& rotation = model.rotationOf(layer);
    Metadata metadata = context.reader.runMetadata();
    if (metadata.empty())
        metadata = ModelDescription{.position = rotation.rotatedWidth() > 0 ? "rope"
                                                : isUsualAlibi(model)       ? "alibi"
                                                                            : "none",
                                    .causal = model.causal,
                                    .rotation = rotation,
                                    .layers = static_cast<int>(model.layers),
                                    .heads = static_cast<int>(model.heads)}
                       .toMetadata();
    // A run's metadata describe its layers that rotate.
    const auto isUnrotated = [&](const std::vector<RotaryConfig>& rotations) {
        return !rotations.empty() && rotations.front().rotatedWidth() > 0 &&
               rotations[model.rotation_of_layer[static_cast<std::size_t>(layer)]].rotatedWidth() == 0;
    };
    if (isUnrotated(model.rotations)) metadata["rotary_fraction"] = "0";
    if (isUnrotated(model.value_rotations)) metadata["value_rotary_fraction"] = "0";
    metadata["text"] = withValidUtf8(context.question.text);
    metadata["token_texts"] = jsonList(context.reader.textsOf(ids));
    return metadata;
}

void requireTextLengthLimit(const QuestionContext& context) {
    if (context.question.text.size() > kMaxRequestTextBytes)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(context.question.text.size()) +
                                          " bytes; the longest is " + std::to_string(kMaxRequestTextBytes));
}

void requireMapsFitReply(const QuestionContext& context, std::int64_t queries, std::int64_t keys) {
    const std::int64_t maps = context.model().layers * context.model().heads;
    constexpr std::int64_t kMaxNumbers =
        static_cast<std::int64_t>((kMaxPayloadBytes - 1024 * 1024) / sizeof(float));  // the rest is for texts
    if (maps * queries * keys <= kMaxNumbers) return;
    const auto most = static_cast<std::int64_t>(std::sqrt(static_cast<double>(kMaxNumbers / maps)));
    throw Error(ErrorKind::usage, "the maps of all " + std::to_string(maps) + " heads for " +
                                      std::to_string(keys) + " tokens are too large to send; at most " +
                                      std::to_string(most) + " tokens fit");
}

AttentionMaps computeAttentionMaps(const QuestionContext& context, std::span<const std::int64_t> ids,
                                   std::int64_t queries, ForwardHooks recorder) {
    const auto T = static_cast<std::int64_t>(ids.size());
    const std::int64_t first_row = T - queries;
    const at::Tensor all = at::zeros({context.model().layers, context.model().heads, queries, T});
    recorder.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        const std::int64_t skipped = std::max<std::int64_t>(0, first_row - first),
                           rows = weights.size(1) - skipped;
        if (rows <= 0) return;
        all.select(0, layer)
            .narrow(1, first + skipped - first_row, rows)
            .narrow(2, 0, weights.size(2))
            .copy_(weights.narrow(1, skipped, rows));
    };
    at::Tensor final_hidden = context.reader.hidden(ids, {}, recorder);
    return {all, std::move(final_hidden)};
}

}  // namespace roper
