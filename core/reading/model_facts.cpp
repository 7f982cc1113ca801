#include "core/reading/model_facts.h"

#include <ATen/ATen.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/control/messages.h"
#include "core/rotary/frequencies.h"

namespace roper {
namespace {

Metadata rotationFacts(const Architecture& model, std::int64_t layer) {
    const RotaryConfig& rotation = model.rotationOf(layer);
    const double share = static_cast<double>(rotation.rotatedWidth()) / static_cast<double>(model.head_dim);
    return {{"step", "-1"},
            {"position", rotation.rotatedWidth() > 0 ? "rope" : "none"},
            {"attention", "softmax"},
            {"pairing", pairingNames().at(static_cast<std::size_t>(rotation.pairing))},
            {"frequency_formula", frequencyFormulaNames().at(static_cast<std::size_t>(rotation.frequency_formula))},
            {"base", formatNumber(rotation.base)},
            {"rotary_fraction", formatNumber(share)},
            {"value_rotary_fraction", "1"}};
}

}  // namespace

std::string listOf(const std::vector<std::string>& texts) {
    return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Metadata factsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t layer) {
    const Architecture& model = asked.model();
    Metadata facts = asked.reader.runFacts();
    facts.merge(rotationFacts(model, layer));  // what the run says stays
    facts["text"] = asStored(asked.question.text);
    facts["causal"] = model.causal ? "true" : "false";
    facts["layers"] = std::to_string(model.layers);
    facts["heads"] = std::to_string(model.heads);
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

at::Tensor mapsOf(const Asked& asked, std::span<const std::int64_t> ids, std::int64_t queries,
                  PassRecorder also) {
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
    asked.reader.hidden(ids, {}, also);
    return all;
}

}  // namespace roper
