#include "core/reading/model_facts.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/control/messages.h"
#include "core/control/model_description.h"

namespace roper {
std::string listOf(const std::vector<std::string>& texts) {
    return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Metadata factsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t layer) {
    const Architecture& model = asked.model();
    const RotaryConfig& rotation = model.rotationOf(layer);
    Metadata facts = asked.reader.runFacts();
    if (facts.empty())
        facts = ModelDescription{.position = rotation.rotatedWidth() > 0 ? "rope" : "none",
                                 .causal = model.causal,
                                 .rotation = rotation,
                                 .layers = static_cast<int>(model.layers),
                                 .heads = static_cast<int>(model.heads)}
                    .asMetadata();
    facts["text"] = asStored(asked.question.text);
    facts["token_texts"] = listOf(asked.reader.textsOf(ids));
    return facts;
}

void requireShort(const Asked& asked) {
    if (asked.question.text.size() > kLongestProbe)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(asked.question.text.size()) +
                                          " bytes; the longest is " + std::to_string(kLongestProbe));
}

void requireRoomForMaps(const Asked& asked, std::int64_t queries, std::int64_t keys) {
    const std::int64_t maps = asked.model().layers * asked.model().heads;
    constexpr std::int64_t kRoom =
        static_cast<std::int64_t>((kLargestPayload - 1024 * 1024) / sizeof(float));  // the rest is for texts
    if (maps * queries * keys <= kRoom) return;
    const auto most = static_cast<std::int64_t>(std::sqrt(static_cast<double>(kRoom / maps)));
    throw Error(ErrorKind::usage, "the maps of all " + std::to_string(maps) + " heads for " +
                                      std::to_string(keys) + " tokens are too large to send; at most " +
                                      std::to_string(most) + " tokens fit");
}

Maps mapsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t queries, PassRecorder also) {
    const auto T = static_cast<std::int64_t>(ids.size());
    const std::int64_t first_row = T - queries;
    const at::Tensor all = at::zeros({asked.model().layers, asked.model().heads, queries, T});
    also.attention = [&](std::int64_t layer, std::int64_t first, const at::Tensor& weights) {
        const std::int64_t skipped = std::max<std::int64_t>(0, first_row - first),
                           rows = weights.size(1) - skipped;
        if (rows <= 0) return;
        all.select(0, layer)
            .narrow(1, first + skipped - first_row, rows)
            .narrow(2, 0, weights.size(2))
            .copy_(weights.narrow(1, skipped, rows));
    };
    at::Tensor last = asked.reader.hidden(ids, {}, also);
    return {all, std::move(last)};
}

}  // namespace roper
