#include "core/reading/published_probe.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "core/base/error.h"
#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/language_model/decoder.h"
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
void scaleQueries(const Architecture& model, int layer, const LayerRotation& rotation, double factor,
                  HeadVectorsOfText& head) {
    const auto d = static_cast<std::size_t>(model.head_dim);
    const double scale =
        (model.score_scale > 0 ? model.score_scale * std::sqrt(static_cast<double>(model.head_dim)) : 1) /
        (model.scores_by_layer ? layer + 1.0 : 1.0);
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

std::vector<std::string> textsOf(const ModelReader& reader, const std::vector<std::int64_t>& ids) {
    std::vector<std::string> texts;
    for (const std::int64_t id : ids)
        texts.push_back(reader.codec().textOf(id));
    return texts;
}

std::string listOf(const std::vector<std::string>& texts) {
    return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

using Metadata = std::map<std::string, std::string>;

/// What every answer says of the model. @param rotation  of the layer that it is about
Metadata describe(const ModelReader& reader, const Request& request, const std::vector<std::int64_t>& ids,
                  const LayerRotation& rotation) {
    const Architecture& model = reader.model().architecture;
    const double share = static_cast<double>(rotation.width) / static_cast<double>(model.head_dim);
    return {{"step", "-1"},
            {"text", asStored(request.text)},
            {"position", rotation.width > 0 ? "rope" : "none"},
            {"attention", "softmax"},
            {"causal", model.causal ? "true" : "false"},
            {"pairing", pairingNames().at(static_cast<std::size_t>(rotation.pairing))},
            {"frequency_formula", frequencyFormulaNames().at(static_cast<std::size_t>(rotation.formula))},
            {"base", formatNumber(rotation.base)},
            {"rotary_fraction", formatNumber(share)},
            {"value_rotary_fraction", "1"},
            {"layers", std::to_string(model.layers)},
            {"heads", std::to_string(model.heads)},
            {"token_texts", listOf(textsOf(reader, ids))}};
}

TensorToWrite tensor(const char* name, const std::vector<float>& numbers, std::vector<std::int64_t> shape) {
    return {name, Dtype::F32, std::move(shape), std::as_bytes(std::span(numbers))};
}

TensorToWrite tensor(const char* name, const std::vector<std::int64_t>& numbers,
                     std::vector<std::int64_t> shape) {
    return {name, Dtype::I64, std::move(shape), std::as_bytes(std::span(numbers))};
}

std::string answerHead(ModelReader& reader, const Request& request) {
    const Architecture& model = reader.model().architecture;
    const std::vector<std::int64_t> ids = reader.encode(request.text);
    const auto T = static_cast<std::int64_t>(ids.size()), d = model.head_dim;
    requireInside({request.layer, request.head}, model);
    requireKnownForm(model, request.layer, ids.size());
    HeadVectorsOfText vectors = reader.headVectors(ids, request.layer, request.head);
    const LayerRotation& rotation = model.rotationOf(request.layer);
    const bool rotates = rotation.width > 0;
    const ScaledFrequencies frequencies =
        rotates ? rotation.frequencies(static_cast<double>(T)) : ScaledFrequencies{};
    scaleQueries(model, static_cast<int>(request.layer), rotation, frequencies.attention_factor, vectors);
    const std::vector<float> theta(frequencies.theta.begin(), frequencies.theta.end());
    std::vector<TensorToWrite> tensors{tensor("q", vectors.q, {T, d}), tensor("k", vectors.k, {T, d}),
                                       tensor("v", vectors.v, {T, d}), tensor("tokens", ids, {T})};
    if (rotates) tensors.push_back(tensor("theta", theta, {1, static_cast<std::int64_t>(theta.size())}));
    return formatSafetensors(tensors, describe(reader, request, ids, rotation));
}

/// Refuses a text whose maps of all heads would not fit into a reply.
void requireRoom(const Architecture& model, std::size_t queries, std::size_t keys) {
    const auto heads = static_cast<std::size_t>(model.layers * model.heads);
    constexpr std::size_t kRoom = kLargestPayload - 1024 * 1024;  // the rest is for what comes with the maps
    if (heads * queries * keys * sizeof(float) <= kRoom) return;
    throw Error(ErrorKind::usage, "the maps of all " + std::to_string(heads) + " heads for " +
                                      std::to_string(keys) +
                                      " tokens are too large to send; the page Models shows longer texts");
}

/// Attention of the last `queries` queries of every head [L, H, queries, T].
std::vector<float> weightsOfHeads(ModelReader& reader, const std::vector<std::int64_t>& ids,
                                  std::size_t queries) {
    const std::size_t T = ids.size(), heads = static_cast<std::size_t>(reader.model().architecture.heads);
    std::vector<float> all;
    reader.attention(ids, [&](std::int64_t, std::span<const float> weights) {
        for (std::size_t head = 0; head < heads; ++head) {
            const auto rows = weights.subspan((head * T + T - queries) * T, queries * T);
            all.insert(all.end(), rows.begin(), rows.end());
        }
    });
    return all;
}

std::string answerMaps(ModelReader& reader, const Request& request) {
    const Architecture& model = reader.model().architecture;
    const std::vector<std::int64_t> ids = reader.encode(request.text);
    requireRoom(model, ids.size(), ids.size());
    const auto T = static_cast<std::int64_t>(ids.size());
    const std::vector<float> attention = weightsOfHeads(reader, ids, ids.size());
    return formatSafetensors(
        {tensor("attention", attention, {model.layers, model.heads, T, T}), tensor("tokens", ids, {T})},
        describe(reader, request, ids, model.rotations.front()));
}

std::string answerGenerate(ModelReader& reader, const Request& request) {
    constexpr std::int64_t kCandidates = 8;
    const Architecture& model = reader.model().architecture;
    if (request.count < 1) throw Error(ErrorKind::usage, "\"count\" must be at least 1");
    const std::vector<std::int64_t> prompt = reader.encode(request.text);
    requireRoom(model, static_cast<std::size_t>(request.count),
                prompt.size() + static_cast<std::size_t>(request.count));
    const GeneratedText written = reader.generate(
        prompt, {request.count, request.temperature, static_cast<std::uint64_t>(request.seed)});
    std::vector<std::int64_t> whole = prompt;
    whole.insert(whole.end(), written.generated.begin(), written.generated.end());
    const std::size_t generated = written.generated.size(), first = prompt.size() - 1;
    // The queries that predicted the generated tokens: the last of the prompt, and all generated but the
    // last.
    const std::vector<std::int64_t> read(whole.begin(), whole.end() - 1);
    std::vector<float> attention;
    const std::vector<float> rows = weightsOfHeads(reader, read, generated);
    for (std::size_t row = 0; row < rows.size() / read.size(); ++row) {
        attention.insert(attention.end(), rows.begin() + static_cast<std::ptrdiff_t>(row * read.size()),
                         rows.begin() + static_cast<std::ptrdiff_t>((row + 1) * read.size()));
        attention.push_back(0);  // no query looks at the last token
    }
    std::vector<float> probability(written.probability.begin(), written.probability.end()), top_probability;
    std::vector<std::int64_t> top_token;
    const TextReading reading = reader.read(read, kCandidates);
    for (std::size_t t = first; t < read.size(); ++t)
        for (const Prediction& candidate : reading.predictions[t]) {
            top_token.push_back(candidate.id);
            top_probability.push_back(static_cast<float>(candidate.probability));
        }
    const auto N = static_cast<std::int64_t>(generated), T = static_cast<std::int64_t>(whole.size()),
               C = static_cast<std::int64_t>(top_token.size()) / N;
    Metadata metadata = describe(reader, request, whole, model.rotations.front());
    metadata["completion"] = asStored(written.text);
    metadata["candidate_texts"] = listOf(textsOf(reader, top_token));
    return formatSafetensors(
        {tensor("attention", attention, {model.layers, model.heads, N, T}),
         tensor("probability", probability, {N}), tensor("top_probability", top_probability, {N, C}),
         tensor("top_token", top_token, {N, C}), tensor("tokens", whole, {T})},
        metadata);
}

}  // namespace

std::string answerPublishedProbe(ModelReader& reader, const Request& request) {
    if (request.text.size() > kLongestProbe)
        throw Error(ErrorKind::usage, "the text has " + std::to_string(request.text.size()) +
                                          " bytes; the longest is " + std::to_string(kLongestProbe) +
                                          ", the page Models reads longer ones");
    switch (request.command) {
        case Command::head:
            return answerHead(reader, request);
        case Command::maps:
            return answerMaps(reader, request);
        case Command::generate:
            return answerGenerate(reader, request);
        default:
            throw Error(ErrorKind::usage, commandName(request.command) + " is no question about a model");
    }
}

}  // namespace roper
