#include "core/inspection/answer_head.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/rotary/frequencies.h"

namespace roper {
namespace {

void requireKnownForm(const Architecture& model, std::int64_t layer, std::size_t tokens) {
    const auto refuse = [](const std::string& why) {
        throw Error(ErrorKind::usage,
                    why +
                        ", which the pages Attention and Value mixing do not draw; the page Models "
                        "shows its weights");
    };
    if (model.score_softcap > 0) refuse("this model caps its scores");
    if (model.isWindowed(layer) && static_cast<std::int64_t>(tokens) > model.window)
        refuse("layer " + std::to_string(layer) + " attends to the last " + std::to_string(model.window) +
               " tokens alone");
}

/// What multiplies scores beside 1/√d: a scale of the model's own, and the attention factor of its scaling.
void scaleQueries(const Architecture& model, const LayerRotation& rotation, double factor,
                  HeadVectorsOfText& head) {
    const auto d = static_cast<std::size_t>(model.head_dim);
    const double scale =
        model.score_scale > 0 ? model.score_scale * std::sqrt(static_cast<double>(model.head_dim)) : 1;
    const Rotary rotary{static_cast<int>(model.head_dim), rotation.pairing,
                        Eigen::VectorXd::Zero(rotation.width / 2)};
    std::vector<float> of_feature(d, static_cast<float>(scale));
    for (int pair = 0; pair < rotary.pairs(); ++pair) {
        const PairFeatures features = rotary.plane(pair);
        for (const int feature : {features.first, features.second})
            of_feature[static_cast<std::size_t>(feature)] = static_cast<float>(scale * factor * factor);
    }
    for (std::size_t i = 0; i < head.q.size(); ++i)
        head.q[i] *= of_feature[i % d];
}

std::string listOf(const std::vector<std::string>& texts) {
    return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string answerHead(Inspector& inspector, const std::string& text, std::int64_t layer, std::int64_t head) {
    const Architecture& model = inspector.model().architecture;
    const std::vector<std::int64_t> ids = inspector.encode(text);
    const auto T = static_cast<std::int64_t>(ids.size()), d = model.head_dim;
    HeadVectorsOfText vectors = inspector.headVectors(ids, layer, head);
    requireKnownForm(model, layer, ids.size());
    const LayerRotation& rotation = model.rotationOf(layer);
    const bool rotates = rotation.width > 0;
    const ScaledFrequencies frequencies =
        rotates ? rotation.frequencies(static_cast<double>(T)) : ScaledFrequencies{};
    scaleQueries(model, rotation, frequencies.attention_factor, vectors);
    const std::vector<float> theta(frequencies.theta.begin(), frequencies.theta.end());
    const auto tensor = [](const char* name, const std::vector<float>& numbers, std::int64_t rows,
                           std::int64_t columns) {
        return TensorToWrite{name, Dtype::F32, {rows, columns}, std::as_bytes(std::span(numbers))};
    };
    std::vector<TensorToWrite> tensors{tensor("q", vectors.q, T, d),
                                       tensor("k", vectors.k, T, d),
                                       tensor("v", vectors.v, T, d),
                                       {"tokens", Dtype::I64, {T}, std::as_bytes(std::span(ids))}};
    if (rotates) tensors.push_back(tensor("theta", theta, 1, static_cast<std::int64_t>(theta.size())));
    std::vector<std::string> texts;
    for (const std::int64_t id : ids)
        texts.push_back(inspector.codec().textOf(id));
    const auto share = [d](std::int64_t width) {
        return formatNumber(static_cast<double>(width) / static_cast<double>(d));
    };
    return formatSafetensors(
        tensors,
        {{"step", "-1"},
         {"text", asStored(text)},
         {"position", rotates ? "rope" : "none"},
         {"attention", "softmax"},
         {"causal", "true"},
         {"pairing", pairingNames().at(static_cast<std::size_t>(rotation.pairing))},
         {"frequency_formula", frequencyFormulaNames().at(static_cast<std::size_t>(rotation.formula))},
         {"base", formatNumber(rotation.base)},
         {"rotary_fraction", share(rotation.width)},
         {"value_rotary_fraction", "1"},
         {"layers", std::to_string(model.layers)},
         {"heads", std::to_string(model.heads)},
         {"token_texts", listOf(texts)}});
}

}  // namespace roper
