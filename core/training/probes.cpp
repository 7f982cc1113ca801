#include "core/training/probes.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>

#include "core/base/safetensors.h"
#include "core/base/text.h"
#include "core/model/generation.h"
#include "core/training/tensor_bytes.h"
#include "core/training/token_texts.h"

namespace roper {
namespace {

using Metadata = std::map<std::string, std::string>;

/// What every answer says of the model.
Metadata describe(const Probed& probed, const std::string& text) {
    const auto& m = probed.specification.model;
    return {{"step", std::to_string(probed.step)},
            {"text", text},
            {"position", m.position},
            {"attention", m.attention},
            {"causal", probed.specification.isMasked() ? "false" : "true"},
            {"pairing", m.pairing},
            {"frequency_formula", m.frequency_formula},
            {"base", formatNumber(m.base)},
            {"rotary_fraction", formatNumber(m.rotary_fraction)},
            {"value_rotary_fraction", formatNumber(m.value_rotary_fraction)},
            {"layers", std::to_string(m.layers)},
            {"heads", std::to_string(m.heads)}};
}

at::Device deviceOf(const Transformer& model) {
    return model.parameters().front().second.device();
}

/// float32, on the CPU, contiguous: as it is written.
at::Tensor toWrite(const at::Tensor& tensor) {
    return tensor.to(at::kCPU, at::kFloat).contiguous();
}

Reply replyWith(const Probed& probed, const std::vector<TensorToWrite>& tensors, const Metadata& metadata) {
    return {"", true, "step " + std::to_string(probed.step), formatSafetensors(tensors, metadata)};
}

Metadata withTokenTexts(const Probed& probed, Metadata metadata, const at::Tensor& tokens) {
    metadata["token_texts"] = textsOf(probed.task.vocabulary(), tokens);
    return metadata;
}

/// Refuses a text whose maps of all heads would not fit into a reply.
void checkMaps(const Probed& probed, std::size_t tokens) {
    const auto maps =
        static_cast<std::size_t>(probed.specification.model.layers * probed.specification.model.heads);
    constexpr std::size_t kRoom = kLargestPayload - 1024 * 1024;  // the rest is for what comes with the maps
    if (tokens * tokens * maps * sizeof(float) <= kRoom) return;
    const auto most = static_cast<std::size_t>(std::sqrt(static_cast<double>(kRoom / maps / sizeof(float))));
    throw std::invalid_argument("the maps of all " + std::to_string(maps) + " heads for " +
                                std::to_string(tokens) + " tokens are too large to send; at most " +
                                std::to_string(most) + " tokens fit");
}

Reply readHead(const Probed& probed, const Request& request) {
    const at::Tensor tokens = encodePadded(probed.task.vocabulary(), {request.text});
    const at::Tensor qkv =
        toWrite(probed.model.headVectors(tokens.to(deviceOf(probed.model)), request.layer, request.head));
    const at::Tensor q = qkv[0], k = qkv[1], v = qkv[2], list = tokens.flatten();
    std::vector<TensorToWrite> tensors = {tensorToWrite("q", q), tensorToWrite("k", k), tensorToWrite("v", v),
                                          tensorToWrite("tokens", list)};
    // What the head has learned about positions, as matrices of one row.
    const Positions& positions = probed.model.positions();
    const auto layer = static_cast<std::size_t>(request.layer);
    at::Tensor theta, value_theta, bias, table;
    if (!positions.queryKeyFrequencies().empty())
        theta = toWrite(positions.queryKeyFrequencies()[layer].detach().unsqueeze(0));
    if (!positions.valueFrequencies().empty())
        value_theta = toWrite(positions.valueFrequencies()[layer].detach().unsqueeze(0));
    if (positions.relativeBias().defined())
        bias = toWrite(positions.relativeBias().detach().select(1, request.head).unsqueeze(0));
    if (positions.learnedTable().defined()) table = toWrite(positions.learnedTable().detach());
    for (const auto& [name, tensor] : {std::pair{"theta", &theta}, std::pair{"value_theta", &value_theta},
                                       std::pair{"bias", &bias}, std::pair{"table", &table}})
        if (tensor->defined()) tensors.push_back(tensorToWrite(name, *tensor));
    Metadata metadata = withTokenTexts(probed, describe(probed, request.text), list);
    for (const OwnSetting& setting : probed.specification.model.method().settings)
        metadata[setting.name] = probed.specification.model.own.asText(setting);
    return replyWith(probed, tensors, metadata);
}

Reply readMaps(const Probed& probed, const Request& request) {
    const at::Tensor tokens = encodePadded(probed.task.vocabulary(), {request.text});
    checkMaps(probed, static_cast<std::size_t>(tokens.size(1)));
    const Transformer::Inside inside = probed.model.inside(tokens.to(deviceOf(probed.model)));
    const at::Tensor attention = toWrite(inside.attention), norms = toWrite(inside.norms),
                     list = tokens.flatten();
    return replyWith(
        probed,
        {tensorToWrite("attention", attention), tensorToWrite("norms", norms), tensorToWrite("tokens", list)},
        withTokenTexts(probed, describe(probed, request.text), list));
}

/// The continuation is written through the key/value cache; the attention at each of its steps is then read
/// off one pass over the whole text, since a causal model sees the same there.
Reply generateFrom(const Probed& probed, const Request& request) {
    constexpr std::int64_t kMostCandidates = 8;
    const Vocabulary& vocabulary = probed.task.vocabulary();
    std::vector<std::int64_t> whole = vocabulary.encode(request.text);
    const std::int64_t first = static_cast<std::int64_t>(whole.size()) - 1;
    checkMaps(probed, whole.size() + static_cast<std::size_t>(request.count));
    const Completion completion =
        generate(probed.model, vocabulary, {request.text},
                 {static_cast<int>(request.count),
                  [&](std::string_view text) { return probed.task.isComplete(text); }, request.temperature,
                  static_cast<std::uint64_t>(request.seed)})
            .front();
    whole.insert(whole.end(), completion.tokens.begin(), completion.tokens.end());
    const at::Tensor list = padded({whole}).flatten(),
                     on_device = list.unsqueeze(0).to(deviceOf(probed.model));
    const std::int64_t count = static_cast<std::int64_t>(completion.tokens.size()),
                       candidates = std::min<std::int64_t>(kMostCandidates, vocabulary.size());
    const at::Tensor probabilities =
        at::softmax(probed.model.forward(on_device)[0].narrow(0, first, count), -1);
    const auto [top, which] = probabilities.topk(candidates, -1);
    const at::Tensor chosen =
        probabilities.gather(1, on_device[0].narrow(0, first + 1, count).unsqueeze(1)).squeeze(1);
    const at::Tensor attention = toWrite(probed.model.inside(on_device).attention.narrow(2, first, count)),
                     top_values = toWrite(top), chosen_values = toWrite(chosen),
                     top_tokens = which.cpu().contiguous();
    Metadata metadata = describe(probed, request.text);
    metadata["completion"] = completion.text;
    metadata["token_texts"] = textsOf(vocabulary, list);
    metadata["candidate_texts"] = textsOf(vocabulary, top_tokens.flatten());
    return replyWith(probed,
                     {tensorToWrite("attention", attention), tensorToWrite("probability", chosen_values),
                      tensorToWrite("top_probability", top_values), tensorToWrite("top_token", top_tokens),
                      tensorToWrite("tokens", list)},
                     metadata);
}

Reply answer(const Probed& probed, const Request& request) {
    const at::NoGradGuard no_gradients;
    if (request.command == Command::head) return readHead(probed, request);
    if (request.command == Command::maps) return readMaps(probed, request);
    return generateFrom(probed, request);
}

}  // namespace

Reply answerProbe(const Probed& probed, const Request& request) {
    if (request.text.empty()) throw std::invalid_argument("the model needs a text to read");
    if (request.text.size() > kLongestProbe)
        throw std::invalid_argument("the text has " + std::to_string(request.text.size()) +
                                    " bytes; the longest is " + std::to_string(kLongestProbe));
    if (request.command == Command::generate && request.count < 1)
        throw std::invalid_argument("\"count\" must be at least 1");
    try {
        return answer(probed, request);
    } catch (const c10::Error& error) {  // its own text carries a backtrace
        throw std::runtime_error(error.what_without_backtrace());
    }
}

}  // namespace roper
